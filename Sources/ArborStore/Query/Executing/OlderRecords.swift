internal import ArborModel

/// Visits the records of one entity that are stored in older layouts.
///
/// Conditions on fields that are the same in the newest layout are evaluated on the stored record,
/// so that only matching rows are converted. Other conditions are evaluated on a converted copy,
/// which is released as soon as it is no longer needed.
final class OlderRecords {
  /// An older layout.
  final class Form {
    let layout: RecordLayout
    let conversion: RecordConversion
    /// The conditions for records of this layout, or `nil` if they need fields that it lacks.
    let filter: RowFilter?

    init(_ conversion: RecordConversion, _ filter: RowFilter?) {
      layout = conversion.old
      self.conversion = conversion
      self.filter = filter
    }
  }

  /// The older layouts by layout number.
  private let forms: [Form?]
  /// The conditions for records of the newest layout.
  private let filter: RowFilter
  private let resolver: SnapshotResolver
  private let upgrades: UpgradedRecords

  /// - Returns: `nil` if the entity has no older layouts.
  init?(
    of entity: EntitySchema, _ filter: RowFilter, _ executor: QueryExecutor, _ nodes: [BoundNode]
  ) throws {
    let conversions = executor.source.store.layouts.conversions(of: entity)
    guard !conversions.isEmpty else { return nil }
    self.filter = filter
    resolver = executor.resolver
    upgrades = resolver.upgrades
    var read = PropertiesRead()
    for node in nodes { read.add(node) }
    let isOwn = !read.readsOthers && !read.own.isAll && read.own.relationships.isEmpty
    forms = try conversions.map { conversion in
      guard let conversion else { return nil }
      guard isOwn, let older = conversion.entity(entity, reading: read.own.attributes) else {
        return Form(conversion, nil)
      }
      return Form(conversion, try executor.filter(nodes, for: older))
    }
  }

  /// Returns the layout of a record with a valid checksum. Returns `nil` for the newest layout, and
  /// if the record doesn't match its layout.
  @inline(__always)
  func form(of record: RecordView) -> Form? {
    guard record.count >= RecordLayout.headerSize, Int(record.layoutNumber) < forms.count,
      let form = forms[Int(record.layoutNumber)], record.hasForm(of: form.layout)
    else { return nil }
    return form
  }

  /// Delivers a record if it matches. Returns whether more rows are wanted.
  func visit(
    _ record: RecordView, _ form: Form, _ number: ObjectNumber, of entity: EntitySchema,
    _ rows: inout RowDelivery
  ) throws -> Bool {
    if let filter = form.filter {
      guard filter.accepts(record, number, resolver) else { return true }
      if !rows.readsRecords { return try rows.take(number, .stored(record), of: entity) }
    }
    let converted = upgrades.convert(record, form.conversion)
    if form.filter == nil, !filter.accepts(converted, number, resolver) {
      upgrades.takeBack(converted)
      return true
    }
    guard !rows.keepsRecords else { return try rows.take(number, .stored(converted), of: entity) }
    defer { upgrades.takeBack(converted) }
    _ = try rows.take(number, .stored(converted), of: entity)
    return try rows.handOver()
  }
}
