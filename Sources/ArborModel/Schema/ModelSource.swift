package import Foundation

/// The text a model was read from, with what it said then.
package final class ModelSource: Sendable {
  /// The bytes of the `contents` file.
  package let contents: Data
  package let model: ManagedObjectModel

  package init(contents: Data, model: ManagedObjectModel) {
    self.contents = contents
    self.model = model
  }
}
