// Holds the headers that tests have in common, read once.
