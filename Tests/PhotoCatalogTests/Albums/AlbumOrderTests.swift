import PhotoModel
import Testing

@testable import PhotoCatalog

/// The order of an album while the operations of a journal are applied.
struct AlbumOrderTests {
  /// photod writes no id twice in one line, but the line of a journal may say anything.
  @Test func anIDThatIsPlacedTwiceIsInTheAlbumOnce() {
    var order = AlbumOrder()
    order.place([1, 7, 7, 2, 1], before: nil)
    #expect(order.ids == [1, 7, 2] && order.count == 3)
    order.remove([7])
    #expect(order.ids == [1, 2] && !order.contains(7))
    order.place([3, 3], before: 2)
    #expect(order.ids == [1, 3, 2])
  }
}
