package import ArborModel

/// A model whose differences from that of a store the page draws.
package struct ComparedModel: Hashable, Sendable {
  /// The name of the model's file.
  package let name: String
  package let model: ManagedObjectModel

  package init(name: String, model: ManagedObjectModel) {
    self.name = name
    self.model = model
  }
}
