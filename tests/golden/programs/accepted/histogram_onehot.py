# ACCEPT (1, 0): cells of one histogram: a replaced record leaves one and enters another, l1 sensitivity 2.
from bayesdp.programs import Database, Int, Private, Vector, laplace, onehot, program, record


@record
class Answer:
    score: Int[0, 4]


@program
def histogram(answers: Database[Answer]) -> Private[Vector]:
    cells = sum(onehot(a.score, 5) for a in answers)
    return laplace(cells, epsilon=1, sensitivity=2)
