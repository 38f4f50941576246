import PhotoModel
import Testing

@testable import PhotoIndexer

/// The cases in which content proves an identity, and those in which it does not.
@Suite struct IdentityProofTests {
  private static let one = ContentDigest(high: 1, low: 1)
  private static let two = ContentDigest(high: 2, low: 2)

  private func file(
    _ name: String = "a.tif", bytes: Int64? = 100, time: WallTime = 5, sample: ContentDigest? = nil,
    hash: ContentDigest? = nil, fingerprint: UInt64 = 9
  ) -> IdentityProof.Description {
    .init(
      name: Array(name.utf8), byteCount: bytes, modificationTime: time,
      marks: ContentMarks(fingerprint: fingerprint, sample: sample, hash: hash))
  }

  private func proven(
    _ file: IdentityProof.Description, among candidates: [IdentityProof.Description], areAll: Bool = true
  ) -> Int {
    IdentityProof.proven(among: candidates, areAll: areAll, as: file) { $0 }.count
  }

  @Test func fingerprintAndSizeAloneAreNoProof() {
    #expect(IdentityProof.compare(file(), file("b.tif", time: 6)) == .unproven)
    #expect(IdentityProof.compare(file(), file()) == .undecided)
    #expect(proven(file(), among: [file()]) == 0)
    #expect(proven(file(sample: Self.one), among: [file()]) == 0)
  }

  @Test func equalHashesProveItWhateverElseDiffers() {
    #expect(IdentityProof.compare(file(hash: Self.one), file("b.tif", time: 6, hash: Self.one)) == .equal)
    let two = [file("b.tif", hash: Self.one), file("c.tif", hash: Self.one)]
    #expect(proven(file(hash: Self.one), among: two) == 2)
    #expect(proven(file(hash: Self.one), among: two, areAll: false) == 2)
  }

  @Test func sampleProvesItWithSizeNameAndTime() {
    let known = file(sample: Self.one)
    #expect(IdentityProof.compare(known, file(sample: Self.one)) == .alike)
    #expect(IdentityProof.compare(known, file("b.tif", sample: Self.one)) == .unproven)
    #expect(IdentityProof.compare(known, file(time: 6, sample: Self.one)) == .unproven)
    #expect(IdentityProof.compare(known, file(bytes: 101, sample: Self.one)) == .unproven)
    #expect(IdentityProof.compare(known, file(bytes: nil, sample: Self.one)) == .unproven)
    #expect(IdentityProof.compare(known, file(sample: Self.two)) == .unproven)
  }

  @Test func sampleIsNoProofIfTwoCandidatesHaveIt() {
    let known = file(sample: Self.one)
    #expect(proven(known, among: [known]) == 1)
    #expect(proven(known, among: [known, known]) == 0)
    // Further candidates may have it.
    #expect(proven(known, among: [known], areAll: false) == 0)
    // The picture of the second file is not known. It may be the same one.
    #expect(proven(known, among: [known, file()]) == 0)
    #expect(proven(known, among: [known, file(sample: Self.two), file("b.tif")]) == 1)
  }

  @Test func differentHashesDisproveIt() {
    let known = file(sample: Self.one, hash: Self.one)
    #expect(IdentityProof.compare(known, file(sample: Self.one, hash: Self.two)) == .unproven)
    #expect(proven(known, among: [file(sample: Self.one, hash: Self.two), file(sample: Self.one)]) == 1)
  }
}
