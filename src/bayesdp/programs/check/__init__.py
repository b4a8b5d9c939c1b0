"""The checker: proposes costs by the kernel's rules, explains refusals, calls the solvers.

`checker` is the whole way. `reading` reads the representation as the kernel does, `derive` proposes
what each release states (`noise`, `candidates`), `explain` asks the rules in order and `messages`
says their refusals to an author. Beside the rules: `refine` with `solvers` (folds, preconditions),
`parameters`, `divisors` and `sizes`. `refusals` are the two ways of saying no.
"""
