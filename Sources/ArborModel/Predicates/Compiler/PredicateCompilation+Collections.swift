/// Expressions with several values.
extension PredicateCompilation {
  /// Returns a reader of the objects in a collection. The reader omits values that aren't objects
  /// of the store.
  func objects(_ expression: BoundExpression) throws(ArborError) -> ObjectsReader {
    switch expression {
    case .collection(let collection): return members(of: collection)
    case .subquery(let base, let entity, let node):
      let members = try objects(base)
      let (own, codes) = (frame, try codes(node, of: entity))
      return { record, number, resolver in
        let members = members(record, number, resolver)
        own.hold(record, number)
        return members.filter { codes.accepts($0, resolver) }
      }
    case .each(let base, let entity, let inner) where inner.isObjectCollection,
      .follow(let base, let entity, let inner) where inner.isObjectCollection:
      return try joined(base, entity, inner)
    case .closure(let base, let step): return try closure(from: base, step)
    case .union(let union, let base) where base.isObjectCollection:
      let members = try objects(base)
      let chargesWork = environment.chargesWork
      return { record, number, resolver in
        let members = members(record, number, resolver)
        guard !chargesWork || members.chargeHashing(to: resolver) else { return [] }
        return union.isDistinct ? members.distinct : members
      }
    case .call(let function, let sides) where expression.isObjectCollection:
      return try objects(function, sides)
    case .path(let path) where path.leaf.isObject:
      let object = object(path)
      return { object($0, $1, $2).map { [$0] } ?? [] }
    default:
      let environment = environment
      let values = try reader(expression)
      return { record, number, resolver in
        switch values(record, number, resolver) {
        case .list(let elements): elements.compactMap(environment.object)
        case let value: environment.object(value).map { [$0] } ?? []
        }
      }
    }
  }

  private func members(of collection: BoundCollection) -> ObjectsReader {
    let owner = chain(collection.scope, collection.hops)
    let relationship = collection.relationship
    return { record, number, resolver in
      guard let resolver, let owner = owner.target(record, number, resolver) else { return [] }
      return resolver.members(of: owner, relationship)
    }
  }

  /// Returns a reader of the objects of an expression, concatenated over the objects of a
  /// collection.
  private func joined(
    _ base: BoundExpression, _ entity: EntitySchema, _ inner: BoundExpression
  ) throws(ArborError) -> ObjectsReader {
    let members = try objects(base)
    let own = frame
    let readers = try codes(of: entity) { (scope) throws(ArborError) in
      let read = try scope.objects(inner)
      guard scope.environment.chargesWork else { return ObjectsCode(read: read) }
      let work = inner.staticWork
      return ObjectsCode { record, number, resolver in
        resolver?.charge(work) ?? true ? read(record, number, resolver) : []
      }
    }
    return { record, number, resolver in
      let members = members(record, number, resolver)
      own.hold(record, number)
      var joined: [ObjectNumber] = []
      defer { resolver?.release(joined.count) }
      for member in members {
        guard let next = resolver?.record(of: member), let reader = readers[member] else {
          continue
        }
        let found = reader.read(next, member, resolver)
        guard resolver?.admitElements(found.count) ?? true else { return [] }
        joined += found
        guard resolver?.hold(found.count) ?? true else { return [] }
      }
      return joined
    }
  }

  private func objects(
    _ function: PredicateFunction, _ sides: [BoundExpression]
  ) throws(ArborError) -> ObjectsReader {
    let left = try objects(sides[0])
    let chargesWork = environment.chargesWork
    guard sides.count == 2 else {
      return { record, number, resolver in
        let objects = left(record, number, resolver)
        guard !chargesWork || objects.chargeHashing(to: resolver) else { return [] }
        return objects.distinct
      }
    }
    let right = try objects(sides[1])
    return { record, number, resolver in
      let first = left(record, number, resolver)
      let second = right(record, number, resolver)
      guard !chargesWork || first.chargeHashing(to: resolver) && second.chargeHashing(to: resolver)
      else { return [] }
      if function == .union { return (first + second).distinct }
      let others = Set(second)
      let isWanted = function == .intersect
      return first.filter { others.contains($0) == isWanted }.distinct
    }
  }

  /// Returns the code of a predicate for the objects of an inner scope.
  func codes(
    _ node: BoundNode, of target: EntitySchema
  ) throws(ArborError) -> EntityCodes<CompiledCode> {
    try codes(of: target) { (scope) throws(ArborError) in
      let code = try scope.compile(node)
      return (scope.environment.chargesWork ? code.charging(100) : code).code
    }
  }

  private func readers(
    _ expression: BoundExpression, of target: EntitySchema
  ) throws(ArborError) -> EntityCodes<ReaderCode> {
    try codes(of: target) { (scope) throws(ArborError) in
      ReaderCode(read: try scope.reader(expression))
    }
  }

  private func codes<Code>(
    of target: EntitySchema, _ make: @escaping (PredicateCompilation) throws(ArborError) -> Code
  ) throws(ArborError) -> EntityCodes<Code> {
    let family = schema.family(of: target)
    let frame = EvaluationFrame(family: family)
    return try EntityCodes(family) { (entity) throws(ArborError) in
      try make(within(frame, entity))
    }
  }

  // MARK: Values

  /// Returns a reader of an expression for each member of a collection.
  func each(
    _ base: BoundExpression, _ entity: EntitySchema, _ inner: BoundExpression
  ) throws(ArborError) -> ValueReader {
    let members = try objects(base)
    let (own, readers) = (frame, try readers(inner, of: entity))
    let isJoined = inner.isCollection
    return { record, number, resolver in
      let members = members(record, number, resolver)
      own.hold(record, number)
      var values: [PropertyValue] = []
      values.reserveCapacity(members.count)
      var held = 0
      defer { resolver?.release(held) }
      for member in members {
        guard let next = resolver?.record(of: member), let reader = readers[member] else {
          continue
        }
        let value = reader.read(next, member, resolver)
        let size = value.size + 1
        held += size
        guard resolver?.hold(size) ?? true else { return .list([]) }
        if isJoined, case .list(let elements) = value {
          guard resolver?.admitElements(elements.count) ?? true else { return .list([]) }
          values += elements
        } else {
          values.append(value)
        }
      }
      return .list(values)
    }
  }

  /// Returns a reader of an expression for one object.
  func follow(
    _ base: BoundExpression, _ entity: EntitySchema, _ inner: BoundExpression
  ) throws(ArborError) -> ValueReader {
    let environment = environment
    let base = try reader(base)
    let (own, readers) = (frame, try readers(inner, of: entity))
    let ifNone = inner.isCollection ? PropertyValue.list([]) : .null
    return { record, number, resolver in
      guard let object = environment.object(base(record, number, resolver)),
        let next = resolver?.record(of: object), let reader = readers[object]
      else { return ifNone }
      own.hold(record, number)
      return reader.read(next, object, resolver)
    }
  }

  /// Returns a reader of the values of a list that satisfy a predicate.
  func filter(
    _ base: BoundExpression, _ slot: BoundSlot, _ node: BoundNode
  ) throws(ArborError) -> ValueReader {
    let storage = ValueSlot()
    let base = try reader(base)
    let test = try with(slot, storage).compile(node).closure
    return { record, number, resolver in
      let base = base(record, number, resolver)
      let size = base.size
      // A single value, such as one in JSON whose form is unknown, is a collection of one.
      let elements = base.list ?? (base.isNull ? [] : [base])
      guard !elements.isEmpty, resolver?.hold(size) ?? true else { return .list([]) }
      defer { resolver?.release(size) }
      return .list(
        elements.filter { element in
          guard resolver?.admitElements(1) ?? true else { return false }
          storage.value = element
          return test(record, number, resolver)
        })
    }
  }

  /// Returns a reader of one object of a collection, or `nil` if the position is not constant.
  func objectElement(
    _ base: BoundExpression, _ position: BoundPosition
  ) throws(ArborError) -> ObjectReader? {
    // Checked first, so that the base isn't compiled here and then again by the general path.
    var index: PropertyValue?
    if case .at(let expression) = position {
      index = constant(expression)
      if index == nil { return nil }
    }
    let members = try objects(base)
    switch position {
    case .first: return { members($0, $1, $2).first }
    case .last: return { members($0, $1, $2).last }
    case .at:
      guard case .integer(let index)? = index, index >= 0 else { return { _, _, _ in nil } }
      return { record, number, resolver in
        let members = members(record, number, resolver)
        return index < members.count ? members[Int(index)] : nil
      }
    }
  }
}

/// A wrapper for an ``ObjectsReader``; see ``CompiledCode``.
struct ObjectsCode {
  let read: ObjectsReader
}

extension EntityCodes<CompiledCode> {
  /// Returns whether an object exists and satisfies the code's predicate.
  @inline(__always)
  func accepts(_ member: ObjectNumber, _ resolver: (any RecordResolver)?) -> Bool {
    guard let record = resolver?.record(of: member), let code = self[member] else { return false }
    return code.closure(record, member, resolver)
  }
}

extension PredicateEnvironment {
  /// Returns the object of this store that a value refers to, or `nil` if there isn't one.
  func object(_ value: PropertyValue) -> ObjectNumber? {
    guard case .objectID(let id) = value else { return nil }
    return objectNumber(id)
  }
}

extension [ObjectNumber] {
  /// Charges the work of hashing the objects. Returns whether the evaluation may continue.
  fileprivate func chargeHashing(to resolver: (any RecordResolver)?) -> Bool {
    resolver?.charge(100 * (count + 1)) ?? true
  }

  /// The distinct objects, each at its first position.
  var distinct: [ObjectNumber] {
    var seen: Set<ObjectNumber> = []
    return filter { seen.insert($0).inserted }
  }
}
