"""Tests of the devices of a family, which meet in a folder."""
