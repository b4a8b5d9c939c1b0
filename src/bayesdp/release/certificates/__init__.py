"""Why the level of a release holds, and the document that says so.

* `derivation` asks the kernel to prove a plan, over the `dp_steps` of its queries and programs.
* `certify` writes the certificate of a release, `implications` that of what follows from given
  levels; `assumptions` says for people what a certificate rests on.
"""
