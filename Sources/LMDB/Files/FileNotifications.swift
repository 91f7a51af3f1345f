#if os(Linux)
  internal import ArborLocks
  internal import Dispatch

  #if canImport(Glibc)
    internal import Glibc
  #else
    internal import Musl
  #endif

  /// The process's only `inotify` instance, which reports writes to any number of files.
  ///
  /// A user can have a few hundred instances in all programs together, so all watches share one. It
  /// is opened with the first watch and kept.
  final class FileNotifications: Sendable {
    static let shared = FileNotifications()

    /// The size of the header of a kernel message; see `inotify(7)`.
    ///
    /// ```
    /// watch i32 · mask u32 · cookie u32 · length u32 · a name of that length
    /// ```
    private static let headerSize = 16
    private static let lengthOffset = 12

    /// The watched events: writes, and the removal of a name, which is reported as an attribute
    /// change.
    private static let events = UInt32(IN_MODIFY) | UInt32(IN_ATTRIB) | UInt32(IN_MOVE_SELF)

    private struct State {
      /// The descriptor, or -1 before the first watch.
      var descriptor: Int32 = -1
      var source: (any DispatchSourceRead)?
      var nextID = 0
      /// The listeners by the kernel's watch number, which all watches of a file share.
      var listeners: [Int32: [Int: @Sendable () -> Void]] = [:]
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "ArborData.news")

    /// Watches a file. Returns a closure that ends the watch, or `nil` if the kernel has no watch
    /// available.
    func watch(
      _ path: String, _ notify: @escaping @Sendable () -> Void
    ) -> (@Sendable () -> Void)? {
      // Under the lock, so that no message is read before its listener is registered.
      let registration = state.withLock { state -> (watch: Int32, id: Int)? in
        guard let descriptor = open(&state) else { return nil }
        let watch = inotify_add_watch(descriptor, path, Self.events)
        guard watch >= 0 else { return nil }
        state.nextID += 1
        state.listeners[watch, default: [:]][state.nextID] = notify
        return (watch, state.nextID)
      }
      guard let registration else { return nil }
      return { self.end(registration.watch, registration.id) }
    }

    private func end(_ watch: Int32, _ id: Int) {
      state.withLock { state in
        state.listeners[watch]?[id] = nil
        guard state.listeners[watch]?.isEmpty == true else { return }
        state.listeners[watch] = nil
        _ = inotify_rm_watch(state.descriptor, watch)
      }
    }

    private func open(_ state: inout State) -> Int32? {
      if state.descriptor >= 0 { return state.descriptor }
      let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source.setEventHandler { self.readAll(descriptor) }
      source.resume()
      state.descriptor = descriptor
      state.source = source
      return descriptor
    }

    private func readAll(_ descriptor: Int32) {
      var watches: Set<Int32> = []
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
        while true {
          let count = read(descriptor, buffer.baseAddress, buffer.count)
          guard count > 0 else { break }
          Self.collect(UnsafeRawBufferPointer(rebasing: buffer[..<count]), into: &watches)
        }
      }
      let listeners = state.withLock { state in
        // A message without a watch means that the kernel dropped messages, so all listeners are
        // notified.
        watches.contains(-1)
          ? state.listeners.values.flatMap(\.values)
          : watches.flatMap { state.listeners[$0].map { Array($0.values) } ?? [] }
      }
      for notify in listeners { notify() }
    }

    /// Collects the watches of a sequence of kernel messages.
    static func collect(_ messages: UnsafeRawBufferPointer, into watches: inout Set<Int32>) {
      var offset = 0
      // The kernel writes only complete messages. A truncated one would end the loop.
      while offset + headerSize <= messages.count {
        watches.insert(messages.loadUnaligned(fromByteOffset: offset, as: Int32.self))
        let length = messages.loadUnaligned(fromByteOffset: offset + lengthOffset, as: UInt32.self)
        offset += headerSize + Int(length)
      }
    }
  }
#endif
