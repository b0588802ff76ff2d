"""The tests of Li and Flanigan: examples asked for by the name of a task, and outputs that are generated exactly."""
