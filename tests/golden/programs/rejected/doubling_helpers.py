# REJECT size: helpers that call each other twice
from bayesdp.programs import Bool, Database, Private, Real, helper, laplace, program


@helper
def h0(x):
    return h1(x) + h1(x)


@helper
def h1(x):
    return h2(x) + h2(x)


@helper
def h2(x):
    return h3(x) + h3(x)


@helper
def h3(x):
    return h4(x) + h4(x)


@helper
def h4(x):
    return h5(x) + h5(x)


@helper
def h5(x):
    return h6(x) + h6(x)


@helper
def h6(x):
    return h7(x) + h7(x)


@helper
def h7(x):
    return h8(x) + h8(x)


@helper
def h8(x):
    return h9(x) + h9(x)


@helper
def h9(x):
    return h10(x) + h10(x)


@helper
def h10(x):
    return h11(x) + h11(x)


@helper
def h11(x):
    return h12(x) + h12(x)


@helper
def h12(x):
    return h13(x) + h13(x)


@helper
def h13(x):
    return h14(x) + h14(x)


@helper
def h14(x):
    return h15(x) + h15(x)


@helper
def h15(x):
    return h16(x) + h16(x)


@helper
def h16(x):
    return h17(x) + h17(x)


@helper
def h17(x):
    return h18(x) + h18(x)


@helper
def h18(x):
    return h19(x) + h19(x)


@helper
def h19(x):
    return h20(x) + h20(x)


@helper
def h20(x):
    return h21(x) + h21(x)


@helper
def h21(x):
    return h22(x) + h22(x)


@helper
def h22(x):
    return h23(x) + h23(x)


@helper
def h23(x):
    return h24(x) + h24(x)


@helper
def h24(x):
    return h25(x) + h25(x)


@helper
def h25(x):
    return x


@program
def f(obs: Database[Bool]) -> Private[Real]:
    return laplace(h0(sum(obs)), epsilon=1)
