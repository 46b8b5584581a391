"""Mutation testing of the most important code: `make mutants`.

Each mutant is one small change of one module (`<` for `<=`, another constant, a condition less). The tests
that guard the module must fail with it; otherwise they leave something untested.
"""
