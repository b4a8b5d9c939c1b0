# ACCEPT (0.1, 0): names of one alphabet are fine: Greek letters, accents.
from bayesdp.programs import Database, Private, Real, clip, laplace, program, record

μ = 170
ε = 0.1


@record
class Mensch:
    größe: Real[50, 250]


@program(epsilon=ε)
def abweichung(menschen: Database[Mensch]) -> Private[Real]:
    """Wie weit die Größen von μ abweichen."""
    return laplace(sum(clip(m.größe - μ, -30, 30) for m in menschen), epsilon=ε)
