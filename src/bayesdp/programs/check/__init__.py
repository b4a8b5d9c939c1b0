"""The checker: proposes costs by the kernel's rules, explains refusals, calls the solvers."""
