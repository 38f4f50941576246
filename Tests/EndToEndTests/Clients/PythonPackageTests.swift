import Foundation
import PhotoTestSupport
import TestTools
import Testing

/// Runs the tests of the Python package and of the example with a window, which are in `Tests/Python`.
@Suite(
  .enabled("Python can't get the package varlink from PyPI") { try await PythonClient.varlinkPackage() != nil },
  .timeLimit(.minutes(15)))
struct PythonPackageTests {
  private static let package = SourceTree.package.path

  /// The modules without conditions. The others have functions of their own below.
  static let modules = [
    "test_change_details", "test_contract", "test_library", "test_observing", "test_images", "test_articles",
  ]
  static let conditional = ["test_package", "test_picker"]

  @Test(arguments: modules) func pythonTestsPass(module: String) async throws { try await run(module) }

  @Test func everyModuleOfTestsIsRun() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.package + "/Tests/Python")
    let modules = files.filter { $0.hasPrefix("test_") && $0.hasSuffix(".py") }.map { String($0.dropLast(3)) }
    #expect(Set(modules) == Set(Self.modules + Self.conditional))
  }

  static func pythonWithBackend() async throws -> String? {
    try await PythonClient.interpreter(thatRuns: "import ensurepip, setuptools, venv, wheel")
  }

  @Test(.enabled("no Python has venv, setuptools and wheel") { try await pythonWithBackend() != nil })
  func pipInstallsThePackageWithoutANetwork() async throws {
    try await run("test_package.InstallTests", interpreter: Self.pythonWithBackend())
  }

  @Test(.enabled("Python can't get the package mypy from PyPI") { try await PythonClient.mypyPackage() != nil })
  func packageHasRightTypes() async throws {
    try await run("test_package.TypeTests", packages: [#require(await PythonClient.mypyPackage())])
  }

  static func pythonWithGTK() async throws -> String? {
    try await PythonClient.interpreter(
      thatRuns: """
        import gi, shutil
        gi.require_version("Gtk", "4.0")
        assert gi.Repository.get_default().enumerate_versions("Gtk") and shutil.which("Xvfb") and shutil.which("xdotool")
        """)
  }

  @Test(.enabled("PyGObject with GTK 4, Xvfb or xdotool is missing") { try await pythonWithGTK() != nil })
  func pickerShowsTheLibraryInAWindow() async throws {
    try await run("test_picker", interpreter: Self.pythonWithGTK())
  }

  private func run(_ module: String, packages: [String] = [], interpreter: String? = PythonClient.executable)
    async throws
  {
    let varlink = try #require(await PythonClient.varlinkPackage())
    let path = [varlink, "Sources/python", "Tests/Python"].map { $0.hasPrefix("/") ? $0 : "\(Self.package)/\($0)" }
    let environment = ["PHOTOD_PRODUCTS": BuiltPrograms.folder, "PYTHONDONTWRITEBYTECODE": "1"]
    await InotifyPlaces.shared.enter()
    defer { InotifyPlaces.shared.leave() }
    let result = try await PythonClient.run(
      ["-m", "unittest", module], path: (packages + path).joined(separator: ":"), seconds: 600,
      environment: environment, interpreter: interpreter)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains(#/\nRan [1-9][0-9]* tests? in /#), "\(result.output)")
    #expect(!result.output.contains("skipped"), "\(result.output)")
  }
}
