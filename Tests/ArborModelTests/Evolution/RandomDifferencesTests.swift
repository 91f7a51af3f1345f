import ArborModel
import TestLength
import Testing

/// Differences of random models with themselves, with later versions, and in reverse.
@Suite("Differences of random models") struct RandomDifferencesTests {
  /// A model that is changed step by step and never reuses a name.
  struct Evolution {
    var random: SplitMix
    var model = ManagedObjectModel(entities: [])
    private var names = 0

    init(seed: UInt64) {
      random = SplitMix(seed: seed)
      for _ in 0..<4 { addEntity() }
      for _ in 0..<12 { addAttribute() }
    }

    private mutating func name(_ prefix: String) -> String {
      names += 1
      return "\(prefix)\(names)"
    }

    private mutating func anyEntity() -> Int? {
      model.entities.indices.randomElement(using: &random)
    }

    private mutating func anyAttribute() -> (Int, Int)? {
      let all = model.entities.indices.flatMap { entity in
        model.entities[entity].attributes.indices.map { (entity, $0) }
      }
      return all.randomElement(using: &random)
    }

    private mutating func addEntity() {
      var entity = EntityDescription(name: name("E"))
      if Bool.random(using: &random) {
        entity.parent = model.entities.randomElement(using: &random)?.name
      }
      model.entities.append(entity)
    }

    private mutating func addAttribute() {
      guard let entity = anyEntity() else { return }
      model.entities[entity].attributes.append(
        AttributeDescription(
          name: name("a"), type: .string, isOptional: Bool.random(using: &random),
          isIndexed: Bool.random(using: &random)))
    }

    private mutating func removeEntity() {
      guard let index = anyEntity(), model.entities.count > 1 else { return }
      let removed = model.entities.remove(at: index)
      for other in model.entities.indices where model.entities[other].parent == removed.name {
        model.entities[other].parent = removed.parent
      }
    }

    private mutating func renameEntity() {
      guard let index = anyEntity() else { return }
      let former = model.entities[index].name
      model.entities[index].name = name("E")
      model.entities[index].renamingIdentifier =
        model.entities[index].renamingIdentifier ?? former
      for other in model.entities.indices where model.entities[other].parent == former {
        model.entities[other].parent = model.entities[index].name
      }
    }

    private mutating func renameAttribute() {
      guard let (entity, slot) = anyAttribute() else { return }
      let former = model.entities[entity].attributes[slot]
      model.entities[entity].attributes[slot].renamingIdentifier =
        former.renamingIdentifier ?? former.name
      model.entities[entity].attributes[slot].name = name("a")
    }

    private mutating func removeAttribute() {
      guard let (entity, slot) = anyAttribute() else { return }
      model.entities[entity].attributes.remove(at: slot)
    }

    private mutating func moveAttributeUp() {
      guard let (entity, slot) = anyAttribute(),
        let parent = model.entities[entity].parent,
        let target = model.entities.firstIndex(where: { $0.name == parent })
      else { return }
      let attribute = model.entities[entity].attributes.remove(at: slot)
      model.entities[target].attributes.append(attribute)
    }

    private mutating func cutParent() {
      guard let entity = anyEntity() else { return }
      model.entities[entity].parent = nil
    }

    private mutating func changeAttribute() {
      guard let (entity, slot) = anyAttribute() else { return }
      let types: [AttributeType] = [.string, .integer16, .double, .uuid, .date]
      model.entities[entity].attributes[slot].type = types.randomElement(using: &random) ?? .date
      model.entities[entity].attributes[slot].isOptional.toggle()
    }

    /// Changes the model, including its hierarchy if `inHierarchy` is set.
    mutating func change(steps: Int, inHierarchy: Bool) {
      for _ in 0..<steps {
        switch Int.random(in: 0..<(inHierarchy ? 9 : 6), using: &random) {
        case 0: addEntity()
        case 1: addAttribute()
        case 2: removeAttribute()
        case 3: renameEntity()
        case 4: renameAttribute()
        case 5: changeAttribute()
        case 6: moveAttributeUp()
        case 7: cutParent()
        default: removeEntity()
        }
      }
    }
  }

  /// Returns the expected change if the models are exchanged.
  private static func mirrored(_ change: ModelDifference.Change) -> String? {
    let subject = change.subject.map { "\($0)" } ?? ""
    return switch change.kind {
    case .entity(.added): "- \(subject)"
    case .entity(.removed): "+ \(subject)"
    case .entity(.renamed(let former)): "\(former) < \(subject)"
    case .attribute(.added): "- \(subject)"
    case .attribute(.removed(keptIn: [])): "+ \(subject)"
    case .attribute(.removed): "spread \(subject)"
    case .attribute(.spread): "kept in part \(subject)"
    case .attribute(.renamed(let former)): "\(former) < \(subject)"
    case .attribute(.moved(let former)): "\(former) << \(subject)"
    case .index(.added(let index)): "- \(subject)/\(index.name)"
    case .index(.removed(let name)): "+ \(subject)/\(name)"
    default: nil
    }
  }

  private static func straight(_ change: ModelDifference.Change) -> String? {
    let subject = change.subject.map { "\($0)" } ?? ""
    return switch change.kind {
    case .entity(.added): "+ \(subject)"
    case .entity(.removed): "- \(subject)"
    case .entity(.renamed(let former)): "\(subject) < \(former)"
    case .attribute(.added): "+ \(subject)"
    case .attribute(.removed(keptIn: [])): "- \(subject)"
    case .attribute(.removed): "kept in part \(subject)"
    case .attribute(.spread): "spread \(subject)"
    case .attribute(.renamed(let former)): "\(subject) < \(former)"
    case .attribute(.moved(let former)): "\(subject) << \(former)"
    default: nil
    }
  }

  @Test("A model doesn't differ from itself, and exchanging two models mirrors their difference")
  func nothingDiffersFromItselfAndEverythingMirrors() {
    for _ in 0..<TestLength.of(40, long: 20_000) {
      let seed = UInt64.random(in: 0...(.max))
      var evolution = Evolution(seed: seed)
      let old = evolution.model
      evolution.change(steps: Int.random(in: 0..<14, using: &evolution.random), inHierarchy: true)
      let new = evolution.model
      #expect(old.difference(to: old).isEmpty && new.difference(to: new).isEmpty, "seed \(seed)")
      let (forth, back) = (old.difference(to: new), new.difference(to: old))
      let there = forth.changes.compactMap(Self.straight).sorted()
      let mirror = back.changes.compactMap(Self.mirrored).filter { !$0.contains("/") }.sorted()
      #expect(there == mirror, "seed \(seed)")
      #expect(
        forth.storedChanges.isEmpty == (old.fingerprint == new.fingerprint), "seed \(seed)")
    }
  }

  @Test("Composing renamings equals the direct difference")
  func chainsOfRenamesAreOneRename() throws {
    for _ in 0..<TestLength.of(40, long: 20_000) {
      let seed = UInt64.random(in: 0...(.max))
      var evolution = Evolution(seed: seed)
      var versions = [evolution.model]
      for _ in 0..<3 {
        evolution.change(steps: 4, inHierarchy: false)
        versions.append(evolution.model)
      }
      // Every identifier is the first name, so the first and last version can be compared directly,
      // too.
      var composed = versions[0].difference(to: versions[1])
      for (old, new) in zip(versions.dropFirst(), versions.dropFirst(2)) {
        composed = try composed.composed(with: old.difference(to: new))
      }
      let direct = versions[0].difference(to: versions[versions.count - 1])
      #expect(composed == direct, "seed \(seed)")
    }
  }
}
