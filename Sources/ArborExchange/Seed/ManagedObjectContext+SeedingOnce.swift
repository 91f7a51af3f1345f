public import ArborModel
public import ArborObjects
public import Foundation

extension ManagedObjectContext {
  /// Seeds a store once in its life: documents and the mark that they were read are one commit.
  ///
  /// The documents are read into a context of their own, so this one's uncommitted changes are
  /// neither seen nor committed; afterwards this one has taken the commit in. Of several processes
  /// that seed at the same time one does. A purge removes the mark with the data.
  ///
  /// ```swift
  /// try context.seedOnce("catalogue-v1", from: [url])
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the mark.
  ///   - urls: The documents' files.
  ///   - options: What the documents may reach and how large they may be, together.
  /// - Returns: What was created, as objects of this context; nil where the store was seeded
  ///   before.
  /// - Throws: ``ArborError`` as ``seed(from:options:)-([URL],_)`` and `commit()` do; the store and
  ///   this context are then as they were before.
  @discardableResult
  public func seedOnce(
    _ name: String, from urls: [URL], options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport? {
    let mark = "seed/\(name)"
    guard try !store.hasMark(mark) else { return nil }
    let scratch = store.makeContext()
    scratch.author = author
    scratch.name = self.name
    var report = try scratch.seed(from: urls, options: options)
    do {
      try scratch.commit(marking: mark)
    } catch {
      // Somebody else was faster.
      if error.code == .conflict, try store.hasMark(mark) { return nil }
      throw error
    }
    try takeInCommits()
    report.objects = try report.objectIDs.map { (id) throws(ArborError) in try object(with: id) }
    return report
  }

  /// Seeds a store once in its life from one document.
  ///
  /// - Returns: What was created, as objects of this context; nil where the store was seeded
  ///   before.
  /// - Throws: ``ArborError`` as with several documents.
  @discardableResult
  public func seedOnce(
    _ name: String, from url: URL, options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport? {
    try seedOnce(name, from: [url], options: options)
  }
}
