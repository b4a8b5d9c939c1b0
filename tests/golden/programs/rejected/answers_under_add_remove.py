# REJECT private-output: answers of each record tell how many there are
from bayesdp.programs import Bool, Database, Private, Vector, program, randomized_response


@program(adjacency="add-remove")
def f(obs: Database[Bool]) -> Private[Vector]:
    return randomized_response(obs, epsilon=1)
