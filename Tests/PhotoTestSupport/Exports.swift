// A test that imports the environments gets the tools of tests with them.
@_exported import TestTools
