# REJECT size: parentheses that never end
from bayesdp.programs import Bool, Database, Private, Real, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    return laplace(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(sum(obs))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))), epsilon=1)
