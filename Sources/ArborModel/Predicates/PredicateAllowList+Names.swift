extension PredicateAllowList {
  /// What is allowed of an entity, sorted.
  func names(of entity: EntitySchema, in schema: ModelSchema) -> [String] {
    let lineage = entity.lineage.map { schema.entities[$0].name }
    return Set(lineage.flatMap { properties[$0] ?? [] }).sorted()
  }

  /// Why a name is refused; nil for one that is allowed.
  func refusal(of name: String, in entity: EntitySchema, _ schema: ModelSchema) -> String? {
    let allowed = names(of: entity, in: schema)
    if allowed.contains(name) { return nil }
    let start = "There is no property \"\(name)\" in \(entity.name) that may be asked for; "
    return start + (allowed.isEmpty ? "none may." : "ask for \(allowed.joined(separator: ", ")).")
  }
}
