import ArborModel
public import ArborObjects

/// Import of documents of any length, in memory that a batch bounds.
extension PersistentStore {
  /// Imports the items of a document by the notes in the model's `userInfo`, and commits them batch
  /// by batch.
  ///
  /// Works as ``ManagedObjectContext/importObjects(from:as:options:)-(_,String,_)`` does, but
  /// each ``ImportOptions/batchSize`` items are a commit of their own: an error leaves the batches
  /// before it in the store, and has its location. With identities, importing the document
  /// again continues where it stopped: known items without members change nothing, and neither do
  /// their members under `Merge` and `MergeAndPrune`.
  ///
  /// Relationships that name objects by their keys (`ImportReference`) are connected within a batch
  /// or with what the store has; those that lead to later batches wait for the end.
  ///
  /// - Parameters:
  ///   - source: The document. Only a file is read piece by piece.
  ///   - entityName: The entity of the items.
  ///   - options: How the document is read.
  /// - Returns: The steps of the import, which has begun.
  public func importObjects(
    from source: JSONSource, as entityName: String, options: ImportOptions = ImportOptions()
  ) -> ImportProgress {
    ImportProgress { report in
      try await self.perform { context in
        var work = BatchedImport(source, entityName, into: context, options)
        try work.run(report)
      }
    }
  }

  /// Imports the items of a document as objects of a typed class; see
  /// ``importObjects(from:as:options:)-(_,String,_)``.
  ///
  /// - Returns: The steps of the import, which has begun.
  public func importObjects<T: ManagedObject>(
    from source: JSONSource, as type: T.Type, options: ImportOptions = ImportOptions()
  ) -> ImportProgress {
    ImportProgress { report in
      try await self.perform { context in
        let entityName = try context.session.entityName(of: type)
        var work = BatchedImport(source, entityName, into: context, options)
        try work.run(report)
      }
    }
  }
}
