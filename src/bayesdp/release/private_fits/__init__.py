"""A population from the private table: `fit_plan` prices it, `private_fit` makes it."""
