import Foundation
import PhotoModel

extension FetchOptions {
  /// A request for the assets that satisfy a `#Predicate`.
  ///
  /// ```swift
  /// let options = try FetchOptions(
  ///   predicate: #Predicate { $0.isFavorite && $0.camera?.model?.localizedStandardContains("x-t") == true },
  ///   sortDescriptors: [SortDescriptor(\.creationDate, order: .reverse)])
  /// ```
  ///
  /// The predicate is translated into the predicate language of `org.photod.library`, and photod evaluates it. The
  /// article about #Predicate lists what is translated, and the few differences from Swift's own evaluation.
  ///
  /// - Parameter sortDescriptors: the sort keys, the most significant first; by default the newest asset is first.
  /// - Throws: ``PredicateTranslationError`` that names the expression that can't be translated.
  /// - Complexity: O(n · d) for an expression with n parts, nested d deep.
  public init(
    collection: String? = nil, mediaTypes: [String]? = nil, predicate: Predicate<Asset>, text: String? = nil,
    sortDescriptors: [Foundation.SortDescriptor<Asset>] = [], fetchLimit: Int? = nil, includeHidden: Bool? = nil,
    includeTrashed: Bool? = nil, excludeUnavailable: Bool? = nil
  ) throws(PredicateTranslationError) {
    self.init(
      collection: collection, mediaTypes: mediaTypes, predicate: try String(photodPredicate: predicate), text: text,
      sortDescriptors: try PhotoModel.SortDescriptor.list(sortDescriptors), fetchLimit: fetchLimit,
      includeHidden: includeHidden, includeTrashed: includeTrashed, excludeUnavailable: excludeUnavailable)
  }

  /// A request for assets in the order of Foundation's sort descriptors.
  ///
  /// - Parameter predicate: a text of the predicate language, if the list has one.
  /// - Throws: ``PredicateTranslationError`` that names the key path that has no sort key.
  public init(
    collection: String? = nil, mediaTypes: [String]? = nil, predicate: String? = nil, text: String? = nil,
    sortDescriptors: [Foundation.SortDescriptor<Asset>], fetchLimit: Int? = nil, includeHidden: Bool? = nil,
    includeTrashed: Bool? = nil, excludeUnavailable: Bool? = nil
  ) throws(PredicateTranslationError) {
    self.init(
      collection: collection, mediaTypes: mediaTypes, predicate: predicate, text: text,
      sortDescriptors: try PhotoModel.SortDescriptor.list(sortDescriptors), fetchLimit: fetchLimit,
      includeHidden: includeHidden, includeTrashed: includeTrashed, excludeUnavailable: excludeUnavailable)
  }
}

extension String {
  /// The text of the predicate language for a `#Predicate`, for smart albums and `photoctl query --where`.
  ///
  /// - Throws: ``PredicateTranslationError`` that names the expression that can't be translated.
  /// - Complexity: O(n · d) for an expression with n parts, nested d deep.
  public init(photodPredicate predicate: Predicate<Asset>) throws(PredicateTranslationError) {
    do {
      let condition = try TranslationScope(asset: predicate.variable.key).condition(predicate.expression)
      self = try condition.checkedText()
    } catch let error as Untranslatable {
      throw PredicateTranslationError(expression: "\(predicate)", reason: error.reason, remedy: error.remedy)
    } catch let error as PredicateTranslationError {
      throw error
    } catch {
      throw PredicateTranslationError(
        expression: "\(predicate)", reason: "\(error)", remedy: "Write the predicate as a text.")
    }
  }
}
