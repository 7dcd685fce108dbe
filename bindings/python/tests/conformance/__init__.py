"""Runs the conformance cases of tests/conformance by this package: its README says what the cases mean."""
