"""Packages of other people, for the tests that install them beside this one."""
