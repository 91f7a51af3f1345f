internal import ArborFoundation

/// Expressions as readers of values. This general path takes a few hundred nanoseconds, whereas
/// typed code takes a few.
extension PredicateCompilation {
  func compileValues(_ comparison: BoundComparison) throws(ArborError) -> CompiledNode {
    let left = try reader(comparison.left)
    let right = ReaderCode(read: try reader(comparison.right))
    let semantics = ComparisonSemantics(
      comparison.comparison, comparison.options, locale: environment.locale)
    let isSet =
      (comparison.comparison == .equal || comparison.comparison == .notEqual)
      && (comparison.left.isUnordered || comparison.right.isUnordered)
    let isComputed = comparison.left.isComputed
    let chargesWork = environment.chargesWork
    return .code(cost: isSet ? 2000 : 40) { record, number, resolver in
      var first = left(record, number, resolver)
      let held = isComputed ? first : .null
      guard let second = right.read(beside: held, record, number, resolver),
        resolver?.admits(comparing: first, with: second) ?? true,
        !chargesWork || semantics.charge(first, second, isSet: isSet, to: resolver)
      else { return false }
      // A string in a record that is not a valid regular expression matches nothing.
      guard isSet else { return (try? semantics.holds(first, second, resolver)) ?? false }
      first = first.inOrder(semantics.options.folding)
      return (try? semantics.holds(first, second.inOrder(semantics.options.folding))) ?? false
    }
  }

  func reader(_ expression: BoundExpression) throws(ArborError) -> ValueReader {
    let read = try remembering(remembers ? MemoRoot(expression) : nil) {
      (plain) throws(ArborError) in
      try plain.plainReader(expression)
    }
    guard environment.chargesWork else { return read }
    let work = 30 + expression.staticWork
    return { record, number, resolver in
      let value = read(record, number, resolver)
      return resolver?.charge(work + value.work) ?? true ? value : .null
    }
  }

  private func plainReader(_ expression: BoundExpression) throws(ArborError) -> ValueReader {
    if let value = constant(expression) { return { _, _, _ in value } }
    if expression.isObjectCollection {
      let objects = try objects(expression)
      let environment = environment
      return { record, number, resolver in
        .list(objects(record, number, resolver).map(environment.value(of:)))
      }
    }
    switch expression {
    case .path(let path): return reader(path)
    case .list(let elements): return try list(elements)
    case .call(.count, let operands) where operands.count == 1:
      let counter = try counter(operands[0])
      return { .integer(Int64(counter($0, $1, $2, .max))) }
    case .call(let function, let operands): return try call(function, operands)
    case .custom(let name, let operands, let site): return try custom(name, operands, site)
    case .cast(let base, let type):
      let base = try reader(base)
      guard environment.chargesWork else { return { type.cast(base($0, $1, $2)) } }
      return { record, number, resolver in
        let value = base(record, number, resolver)
        return resolver?.charge(type.work(on: value)) ?? true ? type.cast(value) : .null
      }
    case .union(let union, let base):
      let base = try reader(base)
      guard environment.chargesWork else { return { union.value(of: base($0, $1, $2)) } }
      return { record, number, resolver in
        let value = base(record, number, resolver)
        return resolver?.charge(union.work(on: value)) ?? true ? union.value(of: value) : .null
      }
    case .ternary(let node, let first, let second):
      let test = try compile(node).closure
      let (first, second) = (try reader(first), try reader(second))
      return { test($0, $1, $2) ? first($0, $1, $2) : second($0, $1, $2) }
    case .each(let base, let entity, let inner): return try each(base, entity, inner)
    case .follow(let base, let entity, let inner): return try follow(base, entity, inner)
    case .filter(let base, let slot, let node): return try filter(base, slot, node)
    case .slot(let slot):
      guard let storage = slots[ObjectIdentifier(slot)] else { return { _, _, _ in .null } }
      return { _, _, _ in storage.value }
    case .element(let base, let position): return try element(base, position)
    case .part(let base, let name, _): return try part(base, name)
    case .decoded(let path, let part): return reader(path, part)
    case .constant, .argument, .collection, .subquery, .closure: return { _, _, _ in .null }
    }
  }

  private func list(_ elements: [BoundExpression]) throws(ArborError) -> ValueReader {
    let readers = try readers(elements)
    return { readers.values($0, $1, $2).map(PropertyValue.list) ?? .null }
  }

  private func readers(_ expressions: [BoundExpression]) throws(ArborError) -> [ReaderCode] {
    var readers: [ReaderCode] = []
    for expression in expressions { readers.append(ReaderCode(read: try reader(expression))) }
    return readers
  }

  // MARK: Paths

  private func reader(_ path: BoundPath) -> ValueReader {
    let environment = environment
    switch path.leaf {
    case .attribute(let attribute):
      let locator = FieldLocator(path, attribute, self)
      if locator.isExternal { return locator.value }
      if let field = locator.ownField { return { record, _, _ in record.value(field) } }
      return { record, number, resolver in
        locator.locate(record, number, resolver).map { $0.record.value($0.field) } ?? .null
      }
    case .entityName:
      let chain = chain(path.scope, path.hops)
      return { record, number, resolver in
        chain.target(record, number, resolver)
          .flatMap { environment.schema.entity(of: $0) }.map { .string($0.name) } ?? .null
      }
    case .object, .toOne:
      let object = object(path)
      return { record, number, resolver in
        object(record, number, resolver).map(environment.value(of:)) ?? .null
      }
    }
  }

  /// Returns a reader of a part of the value of a JSON attribute. The JSON is read in place.
  private func reader(_ path: BoundPath, _ part: CodablePath) -> ValueReader {
    guard case .attribute(let attribute) = path.leaf else { return { _, _, _ in .null } }
    let locator = FieldLocator(path, attribute, self)
    let chargesWork = environment.chargesWork
    return { record, number, resolver in
      guard let located = locator.locate(record, number, resolver),
        !located.record.isNull(located.field)
      else { return .null }
      let json = located.record.bytes(located.field)
      guard !chargesWork || resolver?.charge(20 * json.count) ?? true else { return .null }
      return part.value(in: json)
    }
  }

  func object(_ path: BoundPath) -> ObjectReader {
    guard case .toOne(let relationship) = path.leaf else {
      return chain(path.scope, path.hops).target
    }
    return chain(path.scope, path.hops + [relationship]).target
  }

  // MARK: Functions

  private func call(
    _ function: PredicateFunction, _ operands: [BoundExpression]
  ) throws(ArborError) -> ValueReader {
    let (now, chargesWork) = (environment.now, environment.chargesWork)
    let readers = try readers(operands)
    switch readers.count {
    case 1:
      let only = readers[0].read
      return { function.value(of: [only($0, $1, $2)], now, $2, chargesWork) }
    case 2:
      let (left, right) = (readers[0].read, readers[1])
      return { record, number, resolver in
        let first = left(record, number, resolver)
        guard let second = right.read(beside: first, record, number, resolver) else {
          return .null
        }
        return function.value(of: [first, second], now, resolver, chargesWork)
      }
    default:
      return { record, number, resolver in
        guard let operands = readers.values(record, number, resolver) else { return .null }
        return function.value(of: operands, now, resolver, chargesWork)
      }
    }
  }

  private func custom(
    _ name: String, _ operands: [BoundExpression], _ site: PredicateSite
  ) throws(ArborError) -> ValueReader {
    guard let function = PredicateFunctions.function(named: name) else {
      throw site.error(PredicateFunctions.unknown(name))
    }
    let readers = try readers(operands)
    return { readers.values($0, $1, $2).map { function($0) } ?? .null }
  }

  // MARK: Parts

  private func element(
    _ base: BoundExpression, _ position: BoundPosition
  ) throws(ArborError) -> ValueReader {
    if base.isObjectCollection, let element = try objectElement(base, position) {
      let environment = environment
      return { element($0, $1, $2).map(environment.value(of:)) ?? .null }
    }
    let base = try reader(base)
    switch position {
    case .first: return { base($0, $1, $2).element(.first) }
    case .last: return { base($0, $1, $2).element(.last) }
    case .at(let index):
      let index = try reader(index)
      return { base($0, $1, $2).element(.at(index($0, $1, $2))) }
    }
  }

  /// Returns a reader of a part of a composite, or of a property of an object whose entity is known
  /// only during evaluation.
  private func part(_ base: BoundExpression, _ name: String) throws(ArborError) -> ValueReader {
    let environment = environment
    let base = try reader(base)
    return { record, number, resolver in
      environment.part(name, of: base(record, number, resolver), resolver)
    }
  }
}

extension BoundExpression {
  /// Whether the expression's value occupies memory of its own.
  fileprivate var isComputed: Bool {
    switch self {
    case .path, .slot, .constant, .argument: false
    default: true
    }
  }
}

extension ReaderCode {
  /// Reads a value while another one is held in memory. Returns `nil` if the evaluation must stop.
  @inline(__always)
  func read(
    beside other: PropertyValue, _ record: RecordView, _ number: ObjectNumber,
    _ resolver: (any RecordResolver)?
  ) -> PropertyValue? {
    let size = other.size
    guard size > 0, let resolver else { return read(record, number, resolver) }
    defer { resolver.release(size) }
    guard resolver.hold(size) else { return nil }
    return read(record, number, resolver)
  }
}

extension [ReaderCode] {
  /// Reads all values. Returns `nil` if the evaluation must stop.
  fileprivate func values(
    _ record: RecordView, _ number: ObjectNumber, _ resolver: (any RecordResolver)?
  ) -> [PropertyValue]? {
    guard let resolver else { return map { $0.read(record, number, nil) } }
    // A pair is a range or a location, and costs no more than two values.
    if count > 2, !resolver.admitElements(count) { return nil }
    var values: [PropertyValue] = []
    values.reserveCapacity(count)
    var held = 0
    defer { resolver.release(held) }
    for reader in self {
      let value = reader.read(record, number, resolver)
      let size = value.size
      held += size
      if size > 0, !resolver.hold(size) { return nil }
      values.append(value)
    }
    return values
  }
}

extension PredicateFunction {
  /// Returns the function's value for a record. A value that is too large stops the evaluation, and
  /// so does too much work.
  @inline(__always)
  fileprivate func value(
    of operands: [PropertyValue], _ now: Date, _ resolver: (any RecordResolver)?,
    _ chargesWork: Bool
  ) -> PropertyValue {
    if chargesWork, let resolver, !resolver.charge(work(on: operands)) { return .null }
    let most = resolver?.room ?? WorkAllowance.standardValueSize
    if let value = value(of: operands, now: now, maximumSize: most) { return value }
    _ = resolver?.hold(.max)
    return .null
  }
}

extension ComparisonSemantics {
  /// Charges the work of comparing two values.
  ///
  /// - Parameter isSet: Whether the elements of lists are sorted first.
  /// - Returns: Whether the evaluation may continue.
  fileprivate func charge(
    _ left: PropertyValue, _ right: PropertyValue, isSet: Bool, to resolver: (any RecordResolver)?
  ) -> Bool {
    let units = work(left, right)
    return resolver?.charge(isSet ? 60 * units : units) ?? true
  }
}

extension PredicateEnvironment {
  func value(of number: ObjectNumber) -> PropertyValue {
    guard let entity = schema.entity(of: number) else { return .null }
    return .objectID(ObjectID(storeID: storeID, entityName: entity.name, number: number.sequence))
  }

  /// Returns the property of a value with the given name, or of each element of a list.
  fileprivate func part(
    _ name: String, of value: PropertyValue, _ resolver: (any RecordResolver)?
  ) -> PropertyValue {
    switch value {
    case .composite(let parts): return parts[name] ?? .null
    case .list(let elements):
      var parts: [PropertyValue] = []
      var held = 0
      defer { resolver?.release(held) }
      for element in elements {
        if chargesWork, let resolver, !resolver.charge(500) { return .null }
        let part = part(name, of: element, resolver)
        let size = part.size + 1
        held += size
        guard resolver?.hold(size) ?? true else { return .null }
        parts.append(part)
      }
      return .list(parts)
    case .objectID(let id):
      if name == "objectID" { return value }
      guard let number = objectNumber(id), let entity = schema.entity(of: number),
        let record = resolver?.record(of: number)
      else { return .null }
      switch entity.property(named: name) {
      case .attribute(let attribute):
        return record.value(attribute.field, of: number, from: resolver)
      case .relationship(let relationship):
        guard case .field(let index) = relationship.storage else {
          let members = resolver?.members(of: number, relationship) ?? []
          return .list(members.map(self.value(of:)))
        }
        return record.reference(entity.layout.fields[index]).map(self.value(of:)) ?? .null
      case nil: return .null
      }
    default: return .null
    }
  }
}

extension PropertyValue {
  /// Returns a list with its elements sorted by value, for comparing unordered collections.
  fileprivate func inOrder(_ folding: StringFolding) -> PropertyValue {
    guard case .list(let elements) = self else { return self }
    if folding.isEmpty { return .list(elements.sorted { PropertyValue.compare($0, $1) == .less }) }
    let folded = elements.map { element in
      if case .string(let text) = element {
        PropertyValue.string(folding.fold(text))
      } else {
        element
      }
    }
    return .list(folded.sorted { PropertyValue.compare($0, $1) == .less })
  }
}
