// A program that imports PhotoClient gets the values, messages and change details of its methods with it.
@_exported import ChangeDetails
@_exported import PhotoContract
@_exported import PhotoModel
