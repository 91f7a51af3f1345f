internal import ArborFoundation

/// A derivation that aggregates the members of a relationship, such as `entries.@sum.cents`. A
/// commit updates it from the changed members if that yields the same bytes as reading all members.
///
/// Sums are updated if all numbers are integers, averages if the numbers are mandatory integers, and
/// minimums and maximums of integers and dates unless the member with that value is removed. In all
/// other cases the value is recomputed from all members. Sums of decimals and of floating-point
/// numbers are rounded, and a difference would keep the rounding of values that are gone.
package struct DerivedAggregate: Sendable {
  private enum Figure: Sendable {
    case sum, average
    case extreme(Ordering)
  }

  private let figure: Figure
  package let relationship: RelationshipSchema
  /// The slot of the members' attribute.
  private let memberSlot: Int
  private let slot: Int

  /// Creates the aggregate that an expression represents, or returns `nil` for any other
  /// expression.
  init?(_ expression: BoundExpression, into attribute: AttributeSchema) {
    guard case .call(let function, let operands) = expression, operands.count == 1,
      case .each(.collection(let collection), _, .path(let path)) = operands[0],
      collection.scope == 0, collection.hops.isEmpty, path.scope == 0, path.hops.isEmpty,
      case .attribute(let member) = path.leaf
    else { return nil }
    let kinds = (own: attribute.field.kind, members: member.field.kind)
    switch function {
    case .sum:
      guard kinds.members.isWholeNumber,
        kinds.own.isWholeNumber || kinds.own == .decimal || kinds.own == .double
      else { return nil }
      figure = .sum
    case .average:
      guard kinds.members.isWholeNumber, kinds.own == .double, !member.description.isOptional
      else { return nil }
      figure = .average
    case .min, .max:
      guard kinds.own == kinds.members, kinds.own.isWholeNumber || kinds.own == .date else {
        return nil
      }
      figure = .extreme(function == .min ? .less : .greater)
    default: return nil
    }
    relationship = collection.relationship
    memberSlot = member.slot
    slot = attribute.slot
  }

  /// Returns the value after a commit.
  ///
  /// - Parameters:
  ///   - owner: An object that exists in the store.
  ///   - touched: All objects that may have been added or removed as members, or whose attribute
  ///     may have changed, each once.
  ///   - stored: A resolver of records in the state before the commit.
  ///   - present: A resolver of records with the commit's changes applied.
  /// - Returns: The value, or `nil` if all members must be read.
  package func value(
    of owner: ObjectNumber, touching touched: [ObjectNumber], in schema: ModelSchema,
    stored: any RecordResolver, present: any RecordResolver
  ) -> PropertyValue? {
    guard let entity = schema.entity(of: owner), let record = stored.record(of: owner) else {
      return nil
    }
    let former = record.value(entity.attributes[slot].field)
    var changes: [(before: PropertyValue, after: PropertyValue)] = []
    for member in touched {
      let before = value(of: member, at: owner, in: schema, stored)
      let after = value(of: member, at: owner, in: schema, present)
      changes.append((before, after))
    }
    switch figure {
    case .sum: return Self.sum(former, changes)
    case .average:
      return Self.average(
        former, changes, before: stored.memberCount(of: owner, relationship),
        after: present.memberCount(of: owner, relationship))
    case .extreme(let wanted):
      if former.isNull, stored.memberCount(of: owner, relationship) > 0 { return nil }
      // Zero has two representations, which are equal.
      if former.isZeroDate || changes.contains(where: { $0.after.isZeroDate }) { return nil }
      return Self.extreme(former, changes, wanted)
    }
  }

  /// Returns the contribution of a member, or null if the object is not a member.
  private func value(
    of member: ObjectNumber, at owner: ObjectNumber, in schema: ModelSchema,
    _ resolver: any RecordResolver
  ) -> PropertyValue {
    guard let entity = schema.entity(of: member), schema.leads(relationship, to: member),
      resolver.contains(member, in: relationship, of: owner),
      let record = resolver.record(of: member)
    else { return .null }
    return record.value(entity.attributes[memberSlot].field)
  }

  // MARK: Figures

  private static func sum(
    _ former: PropertyValue, _ changes: [(before: PropertyValue, after: PropertyValue)]
  ) -> PropertyValue? {
    guard var sum = former.exactNumber else { return nil }
    for change in changes {
      if !change.before.isNull { sum = ValueArithmetic.subtract(sum, change.before) }
      if !change.after.isNull { sum = ValueArithmetic.add(sum, change.after) }
      // The sum exceeds the range of decimals.
      if sum.exactNumber == nil { return nil }
    }
    return sum
  }

  private static func average(
    _ former: PropertyValue, _ changes: [(before: PropertyValue, after: PropertyValue)],
    before: Int, after: Int
  ) -> PropertyValue? {
    var sum = PropertyValue.integer(0)
    if before > 0 {
      guard case .double(let average) = former else { return nil }
      // The average is rounded, but its product with the count rounds back to the original sum.
      let product = (average * Double(before)).rounded()
      guard product.magnitude < 0x1p50 else { return nil }
      sum = .integer(Int64(product))
    }
    guard case .integer(let total)? = Self.sum(sum, changes), after >= 0 else { return nil }
    return after == 0 ? .null : .double(Double(total) / Double(after))
  }

  private static func extreme(
    _ former: PropertyValue, _ changes: [(before: PropertyValue, after: PropertyValue)],
    _ wanted: Ordering
  ) -> PropertyValue? {
    var best = PropertyValue.null
    for change in changes where !change.after.isNull && !change.after.isNotANumber {
      if best.isNull || PropertyValue.compare(change.after, best) == wanted { best = change.after }
    }
    if former.isNull { return best }
    if !best.isNull, PropertyValue.compare(best, former) != wanted.reversed { return best }
    let isLost = changes.contains {
      !$0.before.isNull && PropertyValue.compare($0.before, former) == .equal
    }
    // Not a conditional expression, because its `nil` would be a null value.
    guard !isLost else { return nil }
    return former
  }
}

extension PropertyValue {
  fileprivate var isZeroDate: Bool {
    if case .date(let date) = self { date.timeIntervalSinceReferenceDate == 0 } else { false }
  }

  /// The exact number, or `nil` if the value is not a number or is a floating-point fraction.
  fileprivate var exactNumber: PropertyValue? {
    switch self {
    case .integer: return self
    case .decimal(let number):
      guard !number.isNaN else { return nil }
      return self
    case .double(let number):
      guard let whole = Int64(exactly: number), whole.magnitude < 1 << 53 else { return nil }
      return .integer(whole)
    default: return nil
    }
  }
}

extension FieldKind {
  fileprivate var isWholeNumber: Bool { self == .int16 || self == .int32 || self == .int64 }
}
