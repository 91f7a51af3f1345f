#if os(Linux)
  import ArborData
  import Foundation
  import TestLength
  import TestSupport
  import Testing

  @Suite("Many stores in one process") struct ManyStoresTests {
    @Test("Hundreds of open stores leave room for memory and threads")
    func leaveRoom() async {
      await #expect(processExitsWith: .exitCode(0)) {
        var files = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &files) == 0 else { exit(1) }
        files.rlim_cur = files.rlim_max
        guard setrlimit(resource, &files) == 0 else { exit(2) }
        let model = try OfficeModel.make()
        let count = min(TestLength.of(300, long: 2000), Int(clamping: files.rlim_cur) / 5)
        let stores = try (0..<count).map { _ in
          let store = try PersistentStore(model: model, at: .inMemory)
          let context = store.makeContext()
          try context.insert("Tag")["name"] = "one"
          try context.commit()
          return store
        }
        for store in stores {
          guard try store.makeContext().count("Tag") == 1 else { exit(3) }
        }
        let memory = mmap(
          nil, 1 << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard memory != MAP_FAILED else { exit(4) }
        exit(0)
      }
    }
  }
#endif
