"""Mutation testing of the code that matters: `make mutants`.

Each mutant is one small change of one module (`<` for `<=`, another constant, a condition less).  The tests
that guard the module must fail with it; where they do not, they leave something open.
"""
