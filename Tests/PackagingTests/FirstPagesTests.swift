import Foundation
import TestTools
import Testing

/// The pages that a visitor of the project reads first.
@Suite struct FirstPagesTests {
  @Test func readmeIsShort() throws {
    #expect(try Project.text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
  }

  @Test(arguments: ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
  func linksLeadToFiles(page: String) throws {
    let links = try Project.text(page).matches(of: /\]\(([^)#]+)\)/).map { String($0.1) }.filter { !$0.contains("://") }
    #expect(page == "CHANGELOG.md" || links.count > 2)
    for link in links {
      #expect(FileManager.default.fileExists(atPath: Project.directory + "/" + link), "\(page) links to \(link)")
    }
  }

  /// Every path of this project in backquotes must exist.
  @Test(arguments: ["README.md", "CONTRIBUTING.md"])
  func pathsThatAreNamedExist(page: String) throws {
    let paths = try Project.text(page).matches(of: /`((Sources|Tests|Scripts|Documentation)\/[A-Za-z0-9\/+._-]+)/).map {
      String($0.1)
    }
    for path in paths {
      #expect(FileManager.default.fileExists(atPath: Project.directory + "/" + path), "\(page) names \(path)")
    }
  }

  @Test func newestReleaseOfTheChangelogIsTheVersion() throws {
    let newest = try #require(Project.text("CHANGELOG.md").firstMatch(of: /\n## \[(\d[^\]]*)\]/)).1
    #expect(try Project.run("\(BuiltPrograms.folder)/photoctl", "--version") == "photoctl \(newest)\n")
  }
}
