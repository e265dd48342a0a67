// Empty: its target holds the precompiled headers that the tests share.
