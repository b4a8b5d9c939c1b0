# REJECT private-control: the same, hidden in a helper
from bayesdp.programs import Bool, Database, Int, Private, count, helper, laplace, program


@helper
def noisy_if_many(number, epsilon):
    if number > 10:
        answer = laplace(number, epsilon=epsilon)
    else:
        answer = 0
    return answer


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return noisy_if_many(count(obs), 1)
