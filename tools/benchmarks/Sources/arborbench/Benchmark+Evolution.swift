import ArborData
import Foundation

extension Benchmark {
  /// Measures the cost of a store with a former version of its model, in copies of a loaded store.
  /// Opens it unchanged, with the next version for the first time, and with it again. Scans records
  /// written with the former version, and the same records rewritten. Not part of the workload.
  func evolve(rounds: Int) throws {
    let former = path + ".former"
    let unconverted = path + ".unconverted"
    let converted = path + ".converted"
    let copies = [former, unconverted, converted]
    defer { copies.forEach(Self.remove) }
    copies.forEach(Self.remove)
    let models = try prepare(former)
    try copy(former, to: converted)
    try rewrite(converted, models.next)
    for _ in 0...rounds {
      Self.remove(unconverted)
      try copy(former, to: unconverted)
      try openFirst("16_open_unchanged", former, models.former)
      try openFirst("16_open_migrating", unconverted, models.next)
      try openFirst("16_open_migrated", unconverted, models.next)
      for name in ["17_scan_unconverted", "17_scan_converted"] {
        try scan(name, name.hasSuffix("unconverted") ? unconverted : converted, models.next)
      }
    }
  }

  /// Creates a copy of the loaded store with an additional entity that the next version removes.
  /// Returns it with the models of both versions.
  private func prepare(
    _ former: String
  ) throws -> (former: ManagedObjectModel, next: ManagedObjectModel) {
    let loaded = try store()
    var model = loaded.model
    loaded.close()
    try copy(path, to: former)
    model.entities.append(
      EntityDescription(
        name: "Legacy", attributes: [AttributeDescription(name: "text", type: .string)]))
    let store = try PersistentStore(model: model, at: .path(former))
    defer { store.close() }
    let context = store.makeContext()
    for number in 0..<1000 {
      try context.insert("Legacy").setValue(.string("\(number)"), forKey: "text")
    }
    try context.commit()
    return (model, try Self.next(model))
  }

  /// Adds, renames and removes attributes, and one entity each.
  private static func next(_ former: ManagedObjectModel) throws -> ManagedObjectModel {
    var model = former
    model.entities.removeAll { $0.name == "Legacy" }
    model.entities.append(
      EntityDescription(
        name: "Badge", attributes: [AttributeDescription(name: "code", type: .integer64)]))
    guard let employee = model.entities.firstIndex(where: { $0.name == "Employee" }) else {
      throw BenchmarkError("no entity Employee")
    }
    model.entities[employee].attributes.removeAll { $0.name == "active" }
    for index in model.entities[employee].attributes.indices
    where model.entities[employee].attributes[index].name == "email" {
      model.entities[employee].attributes[index].name = "mailAddress"
      model.entities[employee].attributes[index].renamingIdentifier = "email"
    }
    model.entities[employee].attributes += [
      AttributeDescription(name: "rank", type: .integer32, defaultValue: 3),
      AttributeDescription(name: "nickname", type: .string, isOptional: true),
    ]
    return model
  }

  private func copy(_ source: String, to target: String) throws {
    try FileManager.default.copyItem(atPath: source, toPath: target)
    // Otherwise, the first commit would wait until the copy has been flushed to the disk.
    try FileHandle(forUpdating: URL(filePath: target)).synchronize()
  }

  private static func remove(_ path: String) {
    for suffix in ["", "-lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  private func open(_ path: String, _ model: ManagedObjectModel) throws -> PersistentStore {
    var options = StoreOptions()
    options.migration = .automatic(dropping: ["Legacy", "Employee.active"])
    return try PersistentStore(model: model, at: .path(path), options: options)
  }

  private func openFirst(_ name: String, _ path: String, _ model: ManagedObjectModel) throws {
    let key = Workload.keys(seed: 43, range: count, count: 1)[0]
    try Meter.measure(name) {
      let store = try open(path, model)
      let id = employeeID(key, in: store)
      let context = store.makeContext()
      let name: String = try context.object(with: id)["name"]
      store.close()
      return withExtendedLifetime(context) { (1, UInt64(name.utf8.count)) }
    }
  }

  /// Rewrites every employee.
  private func rewrite(_ path: String, _ model: ManagedObjectModel) throws {
    let store = try open(path, model)
    defer { store.close() }
    for rank: Int64 in [4, 3] {
      let context = store.makeContext()
      for employee in try context.fetch(FetchRequest<ManagedObject>(entity: "Employee")) {
        try employee.setValue(.integer(rank), forKey: "rank")
      }
      try context.commit()
    }
  }

  private func scan(_ name: String, _ path: String, _ model: ManagedObjectModel) throws {
    let store = try open(path, model)
    defer { store.close() }
    for (form, text) in [
      ("kept", "salary > 110000 AND name CONTAINS 'ab'"),
      ("renamed", "salary > 110000 AND mailAddress CONTAINS 'ab'"),
      ("added", "salary > 110000 AND rank == 3"),
    ] {
      let request = FetchRequest<ManagedObject>(
        entity: "Employee", predicate: try FetchPredicate(format: text))
      try Meter.measure("\(name)_\(form)") {
        let found = try store.makeContext().count(request)
        return (found, UInt64(found))
      }
    }
    try Meter.measure("\(name)_objects") {
      let context = store.makeContext()
      let found = try context.fetch(FetchRequest<ManagedObject>(entity: "Employee"))
      return (found.count, 0)
    }
  }
}
