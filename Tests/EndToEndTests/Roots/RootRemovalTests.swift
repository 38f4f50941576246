import Foundation
import Glibc
import PhotoTestSupport
import TestTools
import Testing

/// A root that is removed with everything in it.
@Suite(.timeLimit(.minutes(10))) struct RootRemovalTests {
  /// The kernel reported each deletion before that of the root, so no photo may stay in the library as unavailable. The
  /// root may go at any moment of the reading of these events, so several roots are removed.
  @Test func photosOfARemovedRootAreNotListed() async throws {
    try await DaemonFixture.with { fixture in
      let roots = (0..<6).map { fixture.path("root\($0)") }
      let names = ["1", "2", "3", "4", "a/5", "a/6", "a/b/7", "c/8"]
      for (number, root) in roots.enumerated() {
        for (index, name) in names.enumerated() {
          try fixture.write("\(URL(fileURLWithPath: root).lastPathComponent)/\(name).jpg", 10 * number + index)
        }
      }
      try await fixture.start(grace: 600, roots: roots)
      try await fixture.synchronize()
      #expect(try await fixture.assets().count == roots.count * names.count)
      for (number, root) in roots.enumerated() {
        let remove = TestProcess()
        remove.executableURL = URL(fileURLWithPath: "/bin/rm")
        remove.arguments = ["-r", root]
        try remove.run()
        await remove.waitUntilExit()
        #expect(remove.terminationStatus == 0)
        try await fixture.status { $0.roots.contains { $0.path == root && $0.state == .offline } }
        try await fixture.synchronize()
        let left = try await fixture.assets().map { $0.resources[0].path }.filter { $0.hasPrefix(root + "/") }
        #expect(left == [], "root \(number)")
        #expect(try await fixture.status().assetCount == (roots.count - 1 - number) * names.count)
      }
    }
  }
}
