internal import ArborModel
internal import ArborStore

/// What waits, as fetches lay it over the store.
extension Session {
  /// The pending changes as fetches see them; nil where there is nothing to lay over the store.
  var overlay: FetchOverlay? {
    guard pending.count > 0 || registry.count > 0 else { return nil }
    if let madeOverlay { return madeOverlay }
    let overlay = FetchOverlay(
      dirty: pending.map, known: registry.map,
      pendingRows: { [unowned(unsafe) self] in pending.rows(of: $0, $1) },
      pendingRecord: { [unowned(unsafe) self] in pending.record(of: $0) },
      isDeleted: { [unowned(unsafe) self] in pending.change(of: $0)?.kind == .deleted },
      links: { [unowned(unsafe) self] owner, relationship in
        relation(of: owner, relationship.slot).flatMap { links.edit(owner, $0) }
          .flatMap { $0.isSilent ? nil : $0 }
      },
      touches: { [unowned(unsafe) self] entity in touches(entity) },
      blob: { [unowned(unsafe) self] in blobs[$0] })
    // The overlay lives no longer than the workspace, which owns it.
    madeOverlay = overlay
    return overlay
  }

  /// Whether any object of an entity's family waits for a commit, or has links that do.
  private func touches(_ entity: EntitySchema) -> Bool {
    if entity.concreteFamily.contains(where: { pending.hasChanges(ofEntity: $0) }) {
      return true
    }
    return links.hasEdits { owner in
      schema.entity(of: owner).map { entity.concreteFamily.contains($0.index) } ?? false
    }
  }
}
