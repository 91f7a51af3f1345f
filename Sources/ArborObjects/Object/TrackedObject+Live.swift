internal import ArborModel
internal import ArborWork

// All objects of a context's workspace are live ones: it makes no others.

extension TrackedObject {
  /// The object as its users see it.
  @inline(__always)
  final var live: ManagedObject { unsafeDowncast(self, to: ManagedObject.self) }
}

extension PendingObject {
  /// The object as its users see it.
  @inline(__always)
  var live: ManagedObject { object.live }
}

extension ObjectRegistry {
  /// The object of a number as its users see it, or nil.
  @inline(__always)
  func live(_ number: ObjectNumber) -> ManagedObject? { object(number)?.live }
}

extension Workspace {
  /// What makes the live objects.
  @inline(__always)
  var reader: ObjectReader {
    unsafeDowncast(hostReference.takeUnretainedValue(), to: ObjectReader.self)
  }

  /// The context whose changes wait here.
  @inline(__always)
  var context: ManagedObjectContext { reader.context }
}

extension [TrackedObject] {
  /// The same objects as their users see them.
  ///
  /// Sound since an array of class references is one reference to a block of them, whatever the
  /// class, and the block's own type only says how its references are released.
  var live: [ManagedObject] { unsafeBitCast(self, to: [ManagedObject].self) }
}
