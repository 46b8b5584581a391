"""Tests of proxies and certificates."""
