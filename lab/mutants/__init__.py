"""Mutation testing of the most important code: `make mutants`.

Each mutant is one small change to one module (`<` for `<=`, another constant, a dropped condition). The tests
that guard the module must fail with the mutant; otherwise some behaviour is untested.
"""
