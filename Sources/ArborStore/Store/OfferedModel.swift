internal import ArborModel

/// The model that a store is opened with, and what of it has to be known at which time.
///
/// Checking a model takes longer than opening the store, so a model with the digest of the stored
/// one is taken as it is: that one has passed the rules.
struct OfferedModel {
  /// With values in the form that a store keeps.
  let model: ManagedObjectModel
  let digest: ModelDigest

  init(_ model: ManagedObjectModel) {
    self.model = model.withFittingValues()
    digest = ModelDigest(self.model)
  }

  /// The model, if it passes all rules.
  ///
  /// - Throws: `invalidModel`.
  func checked() throws(StoreError) -> ManagedObjectModel {
    do throws(ArborError) { return try model.validated() } catch { throw .invalidModel(error) }
  }
}
