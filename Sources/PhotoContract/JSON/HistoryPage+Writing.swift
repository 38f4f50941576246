import PhotoModel

// Members are in the order in which Foundation's encoder sorts them.

extension HistoryPage: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("changes", changes)
      $0.member("token", token)
    }
  }
}

extension PersistentChange: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("changedFields", changedFields)
      $0.member("date", date)
      $0.member("deletedAssets", deletedAssets)
      $0.member("deletedCollections", deletedCollections)
      $0.member("insertedAssets", insertedAssets)
      $0.member("insertedCollections", insertedCollections)
      $0.member("origin", origin)
      $0.member("renamedDirectories", renamedDirectories)
      $0.member("rootAvailability", rootAvailability)
      $0.member("token", token)
      $0.member("updatedAssets", updatedAssets)
      $0.member("updatedCollections", updatedCollections)
    }
  }
}

extension RenamedDirectory: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("fromPath", fromPath)
      $0.member("toPath", toPath)
    }
  }
}

extension RootAvailability: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("available", available)
      $0.member("path", path)
    }
  }
}
