import ArgumentParser
import Testing

@testable import photoctl

struct StandardInputTests {
  private func names(_ text: String, isNullEnded: Bool = false) throws -> [NamedAsset] {
    try names(Array(text.utf8), isNullEnded: isNullEnded)
  }

  private func names(_ bytes: [UInt8], isNullEnded: Bool = false) throws -> [NamedAsset] {
    try StandardInput(isNullEnded: isNullEnded, directory: Array("/h".utf8)).names(in: bytes)
  }

  @Test func eachLineIsAnIDOrAPath() throws {
    #expect(
      try names("12\n\n/p/a b.jpg\n{\"id\":7,\"path\":\"/x\"}\n./12") == [
        NamedAsset(.id(12), at: "line 1 of standard input"),
        NamedAsset(.path("/p/a b.jpg"), at: "line 3 of standard input"),
        NamedAsset(.id(7), at: "line 4 of standard input"),
        NamedAsset(.path("./12"), at: "line 5 of standard input"),
      ])
    #expect(try names("").isEmpty)
  }

  @Test func theCarriageReturnOfALineEndIsNoPartOfTheEntry() throws {
    #expect(
      try names("12\r\n\r\n/p/a\rb.jpg\r\n{\"id\":7}\r\n/p/c.jpg\r") == [
        NamedAsset(.id(12), at: "line 1 of standard input"),
        NamedAsset(.path("/p/a\rb.jpg"), at: "line 3 of standard input"),
        NamedAsset(.id(7), at: "line 4 of standard input"),
        NamedAsset(.path("/p/c.jpg"), at: "line 5 of standard input"),
      ])
    #expect(try names(Array("/p/a\r\0".utf8), isNullEnded: true).map(\.argument) == [.path("/p/a\r")])
  }

  @Test func entriesThatEndWithNULMayHaveAnyByte() throws {
    let bytes = Array("/p/a\n.jpg".utf8) + [0] + [0x62, 0xFF] + [0] + Array("{\"id\":1}".utf8)
    #expect(
      try names(bytes, isNullEnded: true).map(\.argument) == [
        .path("/p/a\n.jpg"), .path("file:///h/b%FF"), .path("{\"id\":1}"),
      ])
  }

  @Test func aLineThatIsNoAssetIsNamed() {
    let failure = #expect(throws: Failure.self) { try names("1\n{\"name\": 2}\n") }
    #expect(failure?.problem == "line 2 of standard input begins like JSON, and is no asset")
  }

  @Test func errorNamesEachEntryThatIsNoPath() throws {
    let ended = #expect(throws: Failure.self) { try names("1\n/p/a.jpg\0/p/b.jpg\0") }
    #expect(ended?.problem == "line 2 of standard input contains a NUL")
    let long = Array(repeating: UInt8(ascii: "a"), count: 70_000)
    for isNullEnded in [false, true] {
      let failure = #expect(throws: Failure.self) { try names(long, isNullEnded: isNullEnded) }
      #expect(failure?.problem.hasSuffix("1 of standard input is too long for a path") == true)
    }
    // A line of JSON may be that long.
    let caption = String(repeating: "a", count: 70_000)
    #expect(try names("{\"caption\":\"\(caption)\",\"id\":3}").map(\.argument) == [.id(3)])
  }

  @Test func listsHaveABound() throws {
    var input = StandardInput(directory: [])
    input.maximumEntries = 3
    #expect(throws: Failure.self) { try input.names(in: Array("1\n2\n3\n4\n".utf8)) }
    #expect(try input.names(in: Array("1\n\n2\n3\n".utf8)).count == 3)
  }

  @Test func emptyLinesAreCountedButTakeNoMemory() throws {
    let bytes = [UInt8](repeating: UInt8(ascii: "\n"), count: 1_000_000) + Array("1\n\n2".utf8)
    #expect(
      try names(bytes) == [
        NamedAsset(.id(1), at: "line 1000001 of standard input"),
        NamedAsset(.id(2), at: "line 1000003 of standard input"),
      ])
    #expect(try names("\n\n").isEmpty)
  }

  @Test func aMissingAssetIsNamedByItsLine() {
    let path = NamedAsset(.path("/x"), at: "line 3 of standard input")
    #expect(
      Failure(notInLibrary: [path, path])?.problem
        == "line 3 of standard input: '/x' is not in the library, nor is 1 other")
    let id = NamedAsset(.id(9), at: "line 4 of standard input")
    #expect(
      Failure(noSuchAssets: [9], names: [9: id])?.problem == "line 4 of standard input: no asset has the id 9")
    #expect(Failure(noSuchAssets: [9], names: [:])?.problem == "no asset has the id 9")
  }

  @Test func nullEndedInputHasAShortOption() throws {
    let command = try #require(try Photoctl.parseAsRoot(["favorite", "-0", "-"]) as? FavoriteCommand)
    #expect(command.assets.isNullEnded && command.assets.arguments == [.path("-")])
    let one = try #require(try Photoctl.parseAsRoot(["show", "1", "a"]) as? ShowCommand)
    #expect(try one.assets.names() == [NamedAsset(.id(1)), NamedAsset(.path("a"))])
  }
}
