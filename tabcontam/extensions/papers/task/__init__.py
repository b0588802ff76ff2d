"""The tests of Li and Flanigan: examples requested by a task's name, and outputs that are generated exactly."""
