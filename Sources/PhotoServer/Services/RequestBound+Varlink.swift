import PhotoContract
import Varlink

extension VarlinkBound {
  init(_ bound: RequestBound) { self.init(count: bound.count, bytes: bound.bytes) }
}
