import ArborModel
public import ArborObjects
public import Foundation

/// Import of documents of any length, in memory that a batch bounds.
extension PersistentStore {
  /// Imports the items of a file as the model's `userInfo` says, and commits them batch by batch.
  ///
  /// Works as ``ManagedObjectContext/importObjects(contentsOf:as:options:)-(_,String,_)`` does, but
  /// each ``ImportOptions/batchSize`` items are a commit of their own: an error leaves the batches
  /// before it in the store, and has its location. With identities, importing the document
  /// again continues where it stopped: known items without members change nothing, and neither do
  /// their members under `Merge` and `MergeAndPrune`.
  ///
  /// Relationships that name objects by their keys (`ImportReference`) are connected within a batch
  /// or with what the store has; those that lead to later batches wait for the end.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - entityName: The entity of the items.
  ///   - options: How the document is read.
  /// - Returns: The steps of the import, which has begun.
  public func importObjects(
    contentsOf url: URL, as entityName: String, options: ImportOptions = ImportOptions()
  ) -> ImportProgress {
    importObjects(contentsOf: url, options) { _ throws(ArborError) in entityName }
  }

  /// Imports the items of a file as objects of a typed class; see
  /// ``importObjects(contentsOf:as:options:)-(_,String,_)``.
  ///
  /// - Returns: The steps of the import, which has begun.
  public func importObjects<T: ManagedObject>(
    contentsOf url: URL, as type: T.Type, options: ImportOptions = ImportOptions()
  ) -> ImportProgress {
    importObjects(contentsOf: url, options) { context throws(ArborError) in
      try context.session.entityName(of: type)
    }
  }

  /// - Parameter entityName: Gives the entity, once there is a context to ask.
  private func importObjects(
    contentsOf url: URL, _ options: ImportOptions,
    of entityName: @escaping @Sendable (ManagedObjectContext) throws(ArborError) -> String
  ) -> ImportProgress {
    ImportProgress { report in
      try await self.perform { context in
        var work = BatchedImport(url, try entityName(context), into: context, options)
        try work.run(report)
      }
    }
  }
}
