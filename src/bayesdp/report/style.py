"""The style sheet of the report: light and dark, screen and paper."""

STYLE = """
:root{--paper:#fbfaf7;--card:#fff;--ink:#1d2430;--soft:#5b6574;--line:#dfdcd3;--mark:#0f6b62;
--tint:#e3f0ed;--warn:#8a4b00;--warnbg:#fdf1de}
@media screen and (prefers-color-scheme:dark){:root{--paper:#14181f;--card:#1b212b;
--ink:#e8e6e0;--soft:#a3adba;--line:#333c49;--mark:#5cc8b8;--tint:#173533;--warn:#f3bd72;--warnbg:#33270f}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:break-word;
font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
header,main,footer{max-width:56rem;margin:0 auto;padding:0 1.5rem}
header{padding-top:3.5rem}
h1,h2,h3{font-family:Charter,"Bitstream Charter",Cambria,Georgia,serif;line-height:1.2;
text-wrap:balance}
h1{font-size:2.4rem;margin:.2rem 0 .6rem;letter-spacing:-.01em}
h2{font-size:1.7rem;margin:0 0 1.2rem}
h3{font-size:1.2rem;margin:2.4rem 0 .6rem}
p{margin:.5rem 0 .8rem;max-width:44rem}
a{color:var(--mark)}
.stamp{color:var(--soft);font-size:.85rem;margin:0}
.lead{font-size:1.1rem;color:var(--soft)}
nav ol{padding-left:1.2rem;margin:1rem 0}
.study{margin-top:2.5rem;padding-top:2.2rem;border-top:3px solid var(--mark)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.8rem;margin:0}
.cards div{background:var(--card);border:1px solid var(--line);border-radius:.6rem;
padding:.8rem 1rem}
.cards dt{font-size:.82rem;color:var(--soft)}
.cards dd{margin:0;font-size:1.55rem;font-weight:600;font-variant-numeric:tabular-nums;
overflow-wrap:anywhere}
.cards dd.small{font-size:.82rem;font-weight:400;color:var(--soft);line-height:1.35}
.about{color:var(--soft)}
.quote,.warning{padding:.6rem 1rem;border-left:4px solid var(--mark);background:var(--tint);
border-radius:0 .4rem .4rem 0}
.warning{border-color:var(--warn);background:var(--warnbg)}
.warning b{color:var(--warn)}
figure{margin:1rem 0;background:var(--card);border:1px solid var(--line);border-radius:.6rem;
padding:1.1rem 1.2rem .8rem}
figcaption{font-size:.85rem;color:var(--soft);border-top:1px solid var(--line);padding-top:.6rem;
margin-top:.4rem}
.figure{display:block;width:100%;font:13px system-ui,sans-serif}
.figure:not(.fluid){height:auto}
.fluid{overflow:visible}
.figure text{fill:var(--ink)}
.figure .head{font-weight:600;font-size:14px}
.figure .value{font-variant-numeric:tabular-nums;text-anchor:end}
.figure .label,.figure .value{paint-order:stroke;stroke:var(--card);stroke-width:4px}
.figure .tick{text-anchor:middle;fill:var(--soft);font-size:12px}
.figure .grid{stroke:var(--line);stroke-width:1}
.figure .axis{stroke:var(--soft);stroke-width:1}
.figure .bar,.figure .cap{stroke:var(--mark);stroke-width:2.2;stroke-linecap:round}
.figure .dot{fill:var(--mark)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.94rem;margin:.8rem 0 1.2rem}
caption{text-align:left;color:var(--soft);font-size:.85rem;padding-bottom:.3rem}
th,td{text-align:left;padding:.42rem .9rem .42rem 0;border-bottom:1px solid var(--line);
vertical-align:top}
thead th{font-size:.82rem;color:var(--soft);font-weight:600;border-bottom:2px solid var(--line)}
tbody th{font-weight:500}
tbody th code{white-space:nowrap}
th.n,td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tr.best>*{background:var(--tint)}
tr.best>:first-child{box-shadow:inset 3px 0 var(--mark);padding-left:.7rem}
.tag{margin-left:.6rem;padding:.05rem .5rem;border-radius:1rem;background:var(--mark);
color:var(--paper);font-size:.72rem;font-weight:600}
.refused{color:var(--soft)}
code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,monospace;font-size:.88em}
.split{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:2rem;align-items:start}
.beliefs{margin-top:.4rem}
.limits{color:var(--soft);margin-top:0}
.meter{display:block;width:100%;height:.7rem;border-radius:1rem;margin:.4rem 0 1rem}
.meter .track{fill:var(--line)}
.meter .fill{fill:var(--mark)}
footer{padding-top:2rem;padding-bottom:3rem;margin-top:2.5rem;border-top:1px solid var(--line);
color:var(--soft);font-size:.85rem}
@media (max-width:44rem){.split{grid-template-columns:minmax(0,1fr);gap:.5rem}
h1{font-size:1.9rem}header,main,footer{padding-left:1rem;padding-right:1rem}
figure{padding:.8rem .9rem .6rem}}
@media print{body{background:#fff;font-size:11pt}.study+.study{break-before:page}
figure,tr,.cards,.warning{break-inside:avoid}h2,h3,caption{break-after:avoid}
.split{display:block}.scroll{overflow:visible}th,td{overflow-wrap:anywhere}
tbody th code{white-space:normal}}
"""
