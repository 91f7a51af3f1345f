public import ArborFoundation
public import ArborModel
internal import ArborStore

extension PersistentStore {
  /// Recovers the readable contents of a damaged store file into a new store.
  ///
  /// The file is scanned page by page, without relying on references between pages. If root pages,
  /// database names or the catalog are lost, or half of the file is missing, every object whose
  /// record is on an intact page is still recovered. Indexes are rebuilt from the objects, and so
  /// are relationships derived from to-one relationships. Links whose other end is lost are
  /// omitted, and so are incomplete large binaries; both are listed in the report. The damaged file
  /// is only read and never modified.
  ///
  /// If it cannot be determined whether a record is the object's latest version, the object is
  /// recovered, too, but listed as doubtful: it may be outdated or deleted. That can happen only if
  /// a part of its entity is lost and no newer version was found. For a large store without damage
  /// among its objects, no deleted object is restored.
  ///
  /// ```swift
  /// let rescued = URL(filePath: "Staff-rescued.arbor")
  /// let report = try PersistentStore.salvage(URL(filePath: "Staff.arbor"), to: rescued)
  /// print(report)
  /// let store = try PersistentStore(model: model, at: .file(rescued))
  /// try store.check()
  /// ```
  ///
  /// If a power failure left commits in the store's journal, they are recovered, too, as far as the
  /// journal is intact. That temporarily takes as much additional disk space as the damaged file.
  ///
  /// The new store has the identity of the damaged one, so object IDs remain valid. It continues
  /// the commit sequence with a commit that counts as a change of everything: observers of the
  /// damaged store reload their data, and a backup log starts a new snapshot. The commit history
  /// before it, including tombstones, isn't recovered, and the new store doesn't follow a log.
  /// Derived attributes keep their values.
  ///
  /// Blocks for about the time needed to read the file and write the objects. Memory use doesn't
  /// depend on the size of the store, except for one bit per page and the largest value. Stops
  /// promptly if the task is cancelled.
  ///
  /// - Parameters:
  ///   - url: The file of the damaged store. It must not be open anywhere.
  ///   - newURL: The file to create. It must not exist, and appears only once it is complete.
  ///   - model: The model the store was written with, needed only if the file no longer contains
  ///     it. Otherwise the file's own model is used; to migrate, open the new store with a newer
  ///     model.
  /// - Returns: A report of the recovered and lost data.
  /// - Throws: ``ArborError`` `fileUnreadable` if the file doesn't exist; `inUse` if it is open;
  ///   `inputOutput` if the new path already exists or the system reports an error; `notAStore` if
  ///   the file contains no page of a store; `corrupted` if it no longer contains its model and
  ///   none is given, or if the given model doesn't fit; `diskFull`, `cancelled`. No file is
  ///   created in that case.
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
