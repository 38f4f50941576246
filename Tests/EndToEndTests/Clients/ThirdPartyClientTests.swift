import Foundation
import PhotoTestSupport
import Testing

/// Tests a client from outside the project. It must need nothing but the contract.
@Suite struct ThirdPartyClientTests {
  @Test(
    .enabled("Python can't get the package varlink from PyPI") { try await PythonClient.varlinkPackage() != nil },
    .timeLimit(.minutes(10)))
  func pythonListsDescribesFetchesObservesAndGetsErrors() async throws {
    let package = try #require(await PythonClient.varlinkPackage())
    try await DaemonFixture.with { fixture in
      for name in ["a.jpg", "b.jpg", "2011/c.jpg"] { try fixture.write(name) }
      let source = fixture.directory + "/new.jpg"
      try DaemonFixture.photo(7).write(to: URL(fileURLWithPath: source))
      try await fixture.start()
      let result = try await PythonClient.run(
        [PythonClient.script, fixture.socket, source, fixture.path("2011/d.jpg")], path: package)
      #expect(
        result.output == """
          interfaces: org.photod.images org.photod.library org.photod.manage org.varlink.service
          vendor, product: photod photod
          members: Asset Fetch Observe UnknownSortKey
          managing: Client Clients Event Events
          one page: 3 1 b.jpg c.jpg
          all pages: a.jpg b.jpg c.jpg
          observed: 3
          details: 3 4 watcher d.jpg
          unknown sort key: org.photod.library.UnknownSortKey shoeSize True
          bad token: org.varlink.service.InvalidParameter {'parameter': 'since'}
          missing parameter: org.varlink.service.InvalidParameter {'parameter': 'ids'}
          not there yet: org.varlink.service.MethodNotImplemented {'method': 'org.photod.library.PerformChanges'}
          stream without more: org.varlink.service.ExpectedMore {}
          no such method: org.varlink.service.MethodNotFound {'method': 'org.photod.library.Develop'}
          still there: live
          clients: 1 True org.photod.manage.Clients
          events: 0 ['inserted', 'committed']
          pictures: 5 True
          no such asset: noSuchAsset
          kinds: image/jpeg
          no such interface: org.varlink.service.InterfaceNotFound {'interface': 'org.nobody'}

          """)
      #expect(result.status == 0)
    }
  }
}
