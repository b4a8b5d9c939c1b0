# REJECT type: noisy answers are observed or returned
from bayesdp.programs import Bool, Database, Int, Private, count, program, randomized_response


@program
def f(db: Database[Bool]) -> Private[Int]:
    noisy = randomized_response(db, epsilon=1)
    return count(noisy)
