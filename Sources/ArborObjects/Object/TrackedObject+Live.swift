internal import ArborModel

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

// What every read and every new object goes through stands here, where it is inlined.
extension NumberMap {
  /// Registers an object that was made just now and that nobody else knows.
  @inline(__always)
  func registerNew(_ object: ManagedObject) {
    set(object.number, UInt(bitPattern: BulkRetain.retainNew(object)))
  }
}

extension ObjectRegistry {
  /// The object of a number as its users see it, or nil.
  @inline(__always)
  func live(_ number: ObjectNumber) -> ManagedObject? { map[number].flatMap(Self.live) }

  /// Calls `body` with the objects of words that the map gave, in their order; 0 is passed over.
  /// The registry must not change meanwhile.
  ///
  /// The memory of those further on, then of their records, is asked for meanwhile.
  func forEach(of words: ContiguousArray<UInt>, _ body: (ManagedObject) -> Void) {
    for index in words.indices {
      if index + NumberMap.lookahead < words.count {
        NumberMap.prefetch(words[index + NumberMap.lookahead])
      }
      if index + 6 < words.count, let object = Self.live(words[index + 6]) {
        let record = UInt(bitPattern: object.base)
        NumberMap.prefetch(record)
        NumberMap.prefetch(record &+ 64)
      }
      if let object = Self.live(words[index]) { body(object) }
    }
  }

  @inline(__always)
  private static func live(_ word: UInt) -> ManagedObject? {
    UnsafeRawPointer(bitPattern: word).map {
      Unmanaged<ManagedObject>.fromOpaque($0).takeUnretainedValue()
    }
  }
}

extension Workspace {
  /// Registers an object that was made just now and that nobody else knows.
  func registerNew(_ object: ManagedObject) { registry.map.registerNew(object) }

  @inline(__always)
  var reader: ObjectReader {
    unsafeDowncast(hostReference.takeUnretainedValue(), to: ObjectReader.self)
  }

  /// How objects of a number's entity are made; nil for a number of none. Nothing is retained.
  @inline(__always)
  func binding(of number: ObjectNumber) -> Unmanaged<EntityBinding>? {
    hostReference._withUnsafeGuaranteedRef {
      unsafeDowncast($0, to: ObjectReader.self).classes[number]
    }
  }

  /// The context whose changes wait here.
  @inline(__always)
  var context: ManagedObjectContext { reader.context }
}

extension [TrackedObject] {
  /// The same objects as their users see them. Sound for the reason that `typed()` is.
  var live: [ManagedObject] { unsafeBitCast(self, to: [ManagedObject].self) }
}
