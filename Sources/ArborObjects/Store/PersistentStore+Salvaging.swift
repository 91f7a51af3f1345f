public import ArborModel
public import Foundation
internal import ArborStore

extension PersistentStore {
  /// Takes out of a damaged store's file what it still holds, into a new store beside it.
  ///
  /// The file is read page by page, whatever leads to a page no more: a store without its root
  /// pages, its names or its catalogue, or cut in half, gives back every object whose record lies
  /// on a sound page. Indexes are filled from the objects, as are the relationships that follow
  /// from to-one ones; links and large binaries of which the other end or a part is lost are left
  /// out, and listed. The damaged file is only read, and never changed.
  ///
  /// An object of whose record nobody can tell whether it is the last one is in the new store too,
  /// and listed as doubtful: it may be out of date, or deleted. That happens only where a part of
  /// its entity is lost, and where nothing newer was found. A large store without damage among its
  /// objects brings nothing back that was deleted.
  ///
  /// ```swift
  /// let rescued = URL(filePath: "Staff-rescued.arbor")
  /// let report = try PersistentStore.salvage(URL(filePath: "Staff.arbor"), to: rescued)
  /// print(report)
  /// let store = try PersistentStore(model: model, at: .file(rescued))
  /// try store.check()
  /// ```
  ///
  /// The new store has the identity of the damaged one, so that object IDs still lead to their
  /// objects. It counts commits further, the last of which stands for the change of everything: who
  /// followed the damaged store reads anew, and a log that was kept of it begins a new snapshot.
  /// What the history had of commits before, tombstones included, is not taken over, and the new
  /// store follows no log. Derived attributes keep the values that they had.
  ///
  /// Blocks for about the time that it takes to read the file and write the objects; memory does
  /// not grow with the store, but for a bit for each page and the largest value. Ends within a
  /// moment where its task is cancelled.
  ///
  /// - Parameters:
  ///   - url: The file of the damaged store, which nobody has open.
  ///   - newURL: The file to be made; nothing may be there. It is there only once it is whole.
  ///   - model: The model that the store was written with, for a file that no longer holds it. A
  ///     file that does is read by its own; open the new store with a newer one then.
  /// - Returns: What is in the new store, and what is not.
  /// - Throws: ``ArborError`` `fileUnreadable` where there is no file; `inUse` where somebody has
  ///   it open; `inputOutput` where there is something at the new path, or the system refuses;
  ///   `notAStore` where nothing in the file is a page of a store; `corrupted` where it no longer
  ///   holds its model and none is given, or the one that is given does not fit; `diskFull`,
  ///   `cancelled`. Nothing is left behind then.
  public static func salvage(
    _ url: URL, to newURL: URL, model: ManagedObjectModel? = nil
  ) throws(ArborError) -> SalvageReport {
    let path = try StoreLocation.path(of: url)
    let newPath = try StoreLocation.path(of: newURL)
    do throws(StoreError) {
      return SalvageReport(try StoreSalvage.run(from: path, to: newPath, model: model))
    } catch .corrupted(_, _, let what) {
      throw ArborError(.corrupted, "\(path) cannot be salvaged: \(what.asClause).")
    } catch {
      throw ArborError(opening: error)
    }
  }
}
