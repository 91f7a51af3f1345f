import Testing

/// Tests mirror sources, one stem each: whoever reads `Cursor.swift` finds `CursorTests.swift`.
@Suite struct MirrorTests {
  /// Suites named by the threat they meet, or by the walk they take, rather than by one source.
  static let threatSuites: Set<String> = [
    "ComputedOrderTests", "DataManagerSeedingTests", "DerivedAggregateTests", "EncryptionTests",
    "FailoverTests",
    "ReplicationTests",
    "SharedOpeningTests", "SharedStoresStormTests",
    "FetchCountTests", "FixedDuplicatesTests", "HangingResolverTests", "HostileSeedTests",
    "CancellationTests", "CodableAttributesTests",
    "JSONComparisonTests",
    "JSONConformanceTests", "JSONHostileTests",
    "ImportHooksTests", "LinkMergeTests", "MembershipPolicyTests", "ModelBasedTests",
    "ModelHostileTests",
    "ObjectLifetimeTests",
    "PageTests", "PageHostileTests", "PageScrollingTests", "PageEditingTests",
    "RandomCommitsTests", "RandomDifferencesTests",
    "RandomExportsTests", "RandomGraphTests", "RandomIndexesTests",
    "RandomResultsTests", "RandomSeedsTests", "ReferenceTests", "SharedContextsTests",
    "SharedGraphTests",
    "EntityOrderTests", "InverseMigrationTests", "RandomModelPairsTests",
    "MemberRulesMigrationTests", "MigrationStepTests", "MigrationPlanTests", "MigrationPassTests",
    "MigrationKindsTests", "MigrationVersionsTests", "OlderLayoutQueriesTests",
    "HierarchyMigrationTests", "MigrationTests", "RefusedMigrationTests",
    "StructureMigrationTests", "RandomMigrationTests",
    "StoreFaultTests", "RevertedMigrationTests", "RevertedLinksTests",
    "RevertedValuesTests", "SalvagedKindsTests", "ServiceSignalTests",
    "SyncTests",
    "TopOfGroupsTests",
    "UniqueFetchTests", "UniquenessMigrationTests",
    "PredicateLanguageArticleTests", "QueryPlanningArticleTests",
    "ValueModelsArticleTests",
    "UntrustedPredicateTests",
  ]

  /// Sources without a test file of their own, each with the suite that tests it.
  static let testedElsewhere: [String: String] = [
    "CatalogEvolution": "MigrationTests",
    "PropertyChanges": "QueryTests",
    "UniqueLookup": "ManagedObjectContext+InsertOrFetchTests",
    "WordIndex": "ManagedObjectContext+SearchingTests",
    "BrowserInterface+Objects": "BrowserInterfaceTests",
    "ChangeList": "ObjectEditorTests",
    "CommitValues": "ChangeFeedTests",
    "Connection": "HTTPServerTests",
    "CursorGuard": "PageGuardTests",
    "EngineCursor": "QueryExecutorTests",
    "EngineDamagedFile": "StoreSalvageTests",
    "EngineEnvironment": "StoreEngineTests",
    "EngineError": "StoreErrorTests",
    "EngineFiles": "StoreCreationTests",
    "EngineReader": "StoreSnapshotTests",
    "EngineWriter": "CommitWriterTests",
    "GuardedTree": "PageGuardTests",
    "LoopbackListener": "HTTPServerTests",
    "SalvageSource": "StoreSalvageTests",
    "SalvagedEntries": "StoreSalvageTests",
    "SalvagedModel": "StoreSalvageTests",
    "SalvageTarget": "StoreSalvageTests",
    "SalvagedRecords": "StoreSalvageTests",
    "PendingRecords": "StoreSalvageTests",
    "DeletedObjects": "StoreSalvageTests",
    "SalvagedLinks": "StoreSalvageTests",
    "SalvagedLinks+Pages": "StoreSalvageTests",
    "SalvagedLinks+Sides": "StoreSalvageTests",
    "SalvagedBlobs": "StoreSalvageTests",
    "SalvageMending": "StoreSalvageTests",
    "SalvageIndexes": "StoreSalvageTests",
    "SalvageEnding": "StoreSalvageTests",
    "SalvageOutcome": "StoreSalvageTests",
    "DamagedFile": "StoreSalvageTests",
    "DamagedFile+Trees": "StoreSalvageTests",
    "DamagedEntry": "StoreSalvageTests",
    "PersistentStore+Salvaging": "SalvageReportTests",
    "SalvageReport+JSON": "SalvageReportTests",
    "IndexBuildPlan": "OnlineIndexBuilderTests",
    "IndexPass": "OnlineIndexBuilderTests",
    "RecordScan": "OnlineIndexBuilderTests",
    "IndexBuildStatus": "OnlineIndexBuilderTests",
    "IndexMaintainer+Duplicates": "OnlineIndexBuilderTests",
    "UnfinishedIndexes": "OnlineIndexBuilderTests",
    "BackgroundIndexBuild": "OnlineIndexBuilderTests",
    "StoreEngine+IndexBuilds": "OnlineIndexBuilderTests",
    "LoggedCommitCodec": "StoreEngine+RepeatingTests",
    "StoreLog": "StoreEngine+RepeatingTests",
    "StoreEngine+Sharing": "SharedStoreTests",
    "StoreEngine+Joining": "PersistentStore+SharingTests",
    "LogClient": "PersistentStore+SharingTests",
    "StoreCounter": "NumberBlocksTests",
    "FolderLog+Restoring": "FolderLogTests",
    "LogManifest": "LogBaseTests",
    "ConnectionPool": "PostgresLogTests",
    "PostgresResult": "PostgresStatementTests",
    "PostgresLog+Reading": "PostgresLog+AppendingTests",
    "SnapshotTexts": "PostgresLog+SnapshotsTests",
    "LogWatcher": "PersistentStore+FollowingTests",
    "LightweightMigration": "MigrationTests",
    "MigrationReversal": "RevertedMigrationTests",
    "ReturnedBlobs": "RevertedLinksTests",
    "ReturnedLinks": "RevertedLinksTests",
    "ReturnedValues": "RevertedValuesTests",
    "RetypedAttribute": "RevertedValuesTests",
    "Migration+Batches": "MigrationStepTests",
    "Migration+Objects": "MigrationStepTests",
    "StagedMigration": "MigrationStepTests",
    "StagedMigration+Refusals": "MigrationVersionsTests",
    "StagedReversal": "MigrationStepTests",
    "AttributeKind": "AttributeType+KindTests",
    "DecimalKind": "FieldKind+StoredTests",
    "StoredKind": "FieldKind+StoredTests",
    "WholeAttributeKind": "AttributeType+KindTests",
    "MigrationPlanner": "MigrationPlanTests",
    "MigrationSurvey": "MigrationPlanTests",
    "MigrationSurvey+Duplicates": "UniquenessMigrationTests",
    "MigrationSurvey+Links": "InverseMigrationTests",
    "PropertyWork": "MigrationPassTests",
    "MigrationChecks": "MigrationTests",
    "MigrationChecks+Members": "MemberRulesMigrationTests",
    "MigrationChecks+Destinations": "RevertedLinksTests",
    "MigrationNotice": "MigrationNewsTests",
    "ModelState": "MigrationNewsTests",
    "MigratingOpener": "MigrationStepTests",
    "MigrationChain": "MigrationVersionsTests",
    "MigrationFiles": "MigrationStepTests",
    "PropertyPass": "MigrationPassTests",
    "StagedModels": "MigrationStepTests",
    "MigrationObstacle+Changes": "MigrationTests",
    "MigrationRefusal": "MigrationTests",
    "RecordConversion": "StoreLayoutsTests",
    "RecordField": "FieldCopiesTests",
    "OlderRecords": "OlderLayoutQueriesTests",
    "StoreOptions+Migration": "MigrationTests",
    "PropertyFlow": "PropertyPairingTests",
    "ModelPairing": "ModelDifferenceTests",
    "ModelDifference+Words": "ModelDifferenceTests",
    "ModelDifference+Kinds": "ModelDifferenceTests",
    "ModelDifference+Change": "ModelDifferenceTests",
    "ModelComparison+Replacements": "ModelComparison+AttributesTests",
    "ModelComparison": "ModelDifferenceTests",
    "EntityTree": "PropertyPairingTests",
    "EntityPairing": "PropertyPairingTests",
    "AccessCandidate": "QueryPlannerTests",
    "BackgroundContext": "PersistentStoreTests",
    "BatchReader": "BatchedImportTests",
    "BoundClasses": "ClassBinderTests",
    "BoundConjunction": "PredicateNormalizerTests",
    "BoundExpression+Parts": "PredicateBinding+PathsTests",
    "BoundNode+Relations": "AccessPathSelectionTests",
    "BoundPredicate": "PredicateBinderTests",
    "CodePointGlob": "GlobPatternTests",
    "ColumnMatch": "QueryPlannerTests",
    "CommitHistory": "DerivedAttributesTests",
    "ContextExecutor": "RetryingTests",
    "DerivationReads": "DerivationTests",
    "EncodedValue": "JSONRenderingTests",
    "EntityBinding": "ClassBinderTests",
    "EntityMacro": "ExpansionTests",
    "EntityProblem": "DiagnosticsTests",
    "EntityReader": "DiagnosticsTests",
    "EntityRules": "CommitValidationTests",
    "EntitySource": "ExpansionTests",
    "EvaluationMemo": "UntrustedPredicateTests",
    "ExactDecimal": "ValueArithmeticTests",
    "ExchangeCounts": "SyncTests",
    "ExchangePlan": "ExchangeRunTests",
    "ExchangeProperties": "AttributeReaderTests",
    "ExchangeAttribute+JSON": "RandomExportsTests",
    "ExportFile": "ManagedObjectContext+ExportingTests",
    "ExportIndex": "ManagedObjectContext+ExportingTests",
    "ExportRun": "ManagedObjectContext+ExportingTests",
    "ExportSchema": "ManagedObjectContext+ExportingTests",
    "ExportWriter": "ManagedObjectContext+ExportingTests",
    "FetchCursor": "ManagedObjectContext+BatchesTests",
    "FetchRequest": "ManagedObjectContext+FetchingTests",
    "FetchedWindow": "ManagedObjectContext+BatchesTests",
    "FieldComparison": "PredicateCompilerTests",
    "FieldSummary": "StoreSnapshot+AggregatingTests",
    "FileNotifications": "FileWatchTests",
    "CandidateNumbers": "AccessPathSelectionTests",
    "FunctionRules": "PredicateBinding+PathsTests",
    "GroupBinder": "ObjectReader+ValuesTests",
    "InitialValue": "InitialValuesTests",
    "ModelXMLText": "ModelXMLNodeTests",
    "GroupFigure": "ObjectReader+ValuesTests",
    "GroupTops": "TopOfGroupsTests",
    "HopChain": "PredicateCompilation+CollectionsTests",
    "IdentityMap": "ItemImportTests",
    "IdentityTable": "ItemImportTests",
    "ImportProgress": "BatchedImportTests",
    "IndexChanges": "StoreOpener+MigrationTests",
    "IndexRange": "NumericIntervalTests",
    "IndexSchema": "IndexGatheringTests",
    "IndexablePattern": "PredicateNormalizerTests",
    "InverseKeeper": "ManagedObject+RelationshipsTests",
    "ItemMapping": "ImportMapperTests",
    "ItemPlan": "ItemImportTests",
    "ItemPlanner": "ItemImportTests",
    "ItemReference": "ReferenceTests",
    "ItemRoute": "ImportMapperTests",
    "ItemRun": "ItemImportTests",
    "ItemRun+Links": "MembershipPolicyTests",
    "ItemRun+References": "ReferenceTests",
    "Interruption": "WorkLimitTests",
    "JSONNumberGrammar": "JSONNodeTests",
    "JSONSource": "ValueAdapterTests",
    "JSONTape": "JSONNodeTests",
    "JSONTape+Values": "JSONNodeTests",
    "KnownTrees": "MappedTreeTests",
    "LinkMender": "SharedGraphTests",
    "ManagedObjectContext+Importing": "ItemImportTests",
    "ManagedObjectContext+Syncing": "SyncTests",
    "MappedKey": "MappedTreeTests",
    "MappedKey+Forms": "MappedTreeTests",
    "MappedPage": "MappedTreeTests",
    "MappedScan": "EntryScanTests",
    "MembershipCache": "ObjectReader+PrefetchingTests",
    "MemoRoot": "UntrustedPredicateTests",
    "ModelDecoder": "ValueAdapterTests",
    "ModelElements": "ValueAdapterTests",
    "ModelEncoder": "JSONRenderingTests",
    "ModelMembers": "ValueAdapterTests",
    "ModelPlan": "ValueModel+ObjectsTests",
    "ModelTraits": "ValueAdapterTests",
    "NumberSum": "ValueSummaryTests",
    "CandidateCollector": "QueryPlannerTests",
    "ChangeListener": "ObjectObservationTests",
    "ConflictResolver": "ChangeMergerTests",
    "ObjectReader+Materialising": "ManagedObjectContext+FetchingTests",
    "ObjectReader+Traversal": "TraversalTests",
    "PendingMembers": "PendingMembershipsTests",
    "PendingMembers+Sequence": "PendingOrderTests",
    "MemberSequences": "PendingOrderTests",
    "PendingObject": "PendingObjectsTests",
    "UndoStack": "UndoHistoryTests",
    "Workspace": "ManagedObjectContextTests",
    "Workspace+ChangeSet": "CommitRunTests",
    "Workspace+Changing": "ManagedObjectContextTests",
    "Workspace+ConcurrentCommits": "ChangeMergerTests",
    "Workspace+Reading": "ObjectReaderTests",
    "Workspace+Recording": "Workspace+SavepointsTests",
    "ChangeRound": "DataManagerDelegateTests",
    "RoundRecorder": "DataManagerDelegateTests",
    "EditLog": "UndoHistoryTests",
    "ObjectEdit": "Workspace+SavepointsTests",
    "CollectingCounts": "QueryPlannerTests",
    "OrderedAccess+Continuing": "QueryExecutor+AnsweringTests",
    "OrderedMembers": "OrderedMaintainerTests",
    "PageBuffers": "PageVerifierTests",
    "PathComparison": "PredicateCompilerTests",
    "PathSummaries": "StoreSnapshot+AggregatingTests",
    "PendingSelection": "QueryExecutor+AnsweringTests",
    "PlanWords": "QueryPlannerTests",
    "PredicateAllowList": "UntrustedPredicateTests",
    "PredicateBinding": "PredicateBinderTests",
    "PredicateBinding+Expressions": "PredicateBinding+PathsTests",
    "PredicateBinding+Qualifiers": "PredicateBinding+PathsTests",
    "PredicateCompilation+Numbers": "NumberCodeTests",
    "PredicateCompilation+Quantifiers": "PredicateCompilation+CollectionsTests",
    "PredicateCompilation+Values": "PredicateCompilerTests",
    "PredicateConstants": "PredicateCompilerTests",
    "ValueSize": "UntrustedPredicateTests",
    "DerivedAggregate": "DerivedAggregateTests",
    "LocalizedMatcher": "ComparisonSemanticsTests",
    "BoundSortKey": "SortKeyTests",
    "CompatibilityForms": "TextTokensTests",
    "PredicateKeyword": "PredicateLexerTests",
    "PredicateParser+Columns": "ObjectReader+ValuesTests",
    "PredicateTokenText": "PredicateLexerTests",
    "PropertiesRead": "FetchedResultsTests",
    "JSONBatch": "JSONItemReaderTests",
    "PropertySlots": "ItemImportTests",
    "PropertyReader": "DiagnosticsTests",
    "PropertySource": "ExpansionTests",
    "PlanExplainer": "QueryPlannerTests",
    "QueryExecutor+Explaining": "IndexAdvisorTests",
    "QueryExecutor+Relating": "AccessPathSelectionTests",
    "QuerySource+Keys": "QueryPlannerTests",
    "RawPage": "PageVerifierTests",
    "RecordValues": "RecordBufferTests",
    "RecordView": "RecordSealTests",
    "ReferenceTemplate": "ReferenceTests",
    "QueryWatch": "StoreInstrumentTests",
    "RankedRows": "ManagedObjectContext+SearchingTests",
    "RelatedCondition": "AccessPathSelectionTests",
    "ResultsKeeper": "FetchedResultsTests",
    "ResultsPlacement": "RandomResultsTests",
    "ResultsRecord": "FetchedResultsTests",
    "ResultsShape": "FetchedResultsTests",
    "CostModel": "AccessPathSelectionTests",
    "RowPlan": "ObjectReader+ValuesTests",
    "RowReaders": "ObjectReader+ValuesTests",
    "RowSink": "QueryExecutorTests",
    "RowSink+Chaining": "QueryExecutor+AnsweringTests",
    "SearchHit": "ManagedObjectContext+SearchingTests",
    "SnapshotResolver": "FetchPredicate+MatchingTests",
    "SortColumns": "ComputedOrderTests",
    "SourceText": "ExpansionTests",
    "StoreChecker+Blobs": "BlobStorageTests",
    "StoreError+Interruption": "CancellationTests",
    "StoreObservers": "StoreChangesTests",
    "StoreSnapshot+Rows": "ObjectReader+ValuesTests",
    "StoreSnapshot+Sweeping": "ObjectReader+PrefetchingTests",
    "StoreSnapshot+UniqueKeys": "ObjectReader+UniqueValuesTests",
    "StoredForm": "ManagedObjectContext+UpsertTests",
    "SyncMapper": "SyncTests",
    "SyncMapping": "SyncValueReaderTests",
    "SyncSerializer": "SyncTests",
    "SyntaxReading": "DiagnosticsTests",
    "TextMatcher": "ComparisonSemanticsTests",
    "TextSearch": "ManagedObjectContext+SearchingTests",
    "TracedClass": "PathTracerTests",
    "TrackedObject+Record": "ManagedObject+RelationshipsTests",
    "TreeTraversal": "PageVerifierTests",
    "UpsertPlan": "ManagedObjectContext+UpsertTests",
    "ValueFunctions": "PredicateFunction+EvaluationTests",
    "ValueKind": "ComparisonRulesTests",
    "ValueStatistics": "PredicateFunction+EvaluationTests",
    "WorkAllowance": "WorkLimitTests",
    "WrittenMembers": "JSONRenderingTests",
  ]

  /// The layers that follow the rule; the remaining suites are named by threat altogether.
  static let layers = [
    "ArborLocks", "LMDB", "ArborErrors", "ArborJSON", "ArborModel", "ArborModelFiles", "ArborStore",
    "ArborLog",
    "ArborObjects", "ArborExchange",
    "ArborData", "ArborService", "ArborPostgres", "ArborSource", "ArborMacroPlugin", "ArborBrowser",
  ]

  /// Layers without suites of their own, and the one above through which they are tested.
  static let testedThrough = ["ArborWork": "ArborObjects"]

  /// The folders of sources that a layer's suites test.
  static func sourceFolders(of layer: String) -> [String] {
    ([layer] + testedThrough.filter { $0.value == layer }.keys).map { "Sources/\($0)" }
  }

  /// A source with fewer lines of code holds declarations rather than logic.
  static let leastLogic = 60

  @Test(arguments: layers) func everyTestFileHasItsSource(layer: String) {
    let sources = Set(SourceTree.swiftFiles(in: Self.sourceFolders(of: layer)).map(\.stem))
    let strays = SourceTree.swiftFiles(in: ["Tests/\(layer)Tests"])
      .filter { $0.path.hasSuffix("Tests.swift") && !Self.threatSuites.contains($0.stem) }
      .filter { !sources.contains(Self.sourceStem(of: $0.stem)) }
    #expect(strays.map(\.path) == [])
  }

  @Test(arguments: layers) func everySourceWithLogicHasItsTests(layer: String) {
    let tests = Set(SourceTree.swiftFiles(in: ["Tests/\(layer)Tests"]).map(\.stem))
    let bare = SourceTree.swiftFiles(in: Self.sourceFolders(of: layer)).filter { source in
      Self.hasLogic(source) && Self.testedElsewhere[source.stem] == nil
        && !Self.testStems(for: source.stem).contains(where: tests.contains)
    }
    #expect(bare.map(\.path) == [])
  }

  @Test func theExceptionsAreNeeded() {
    let sources = SourceTree.swiftFiles(in: ["Sources"])
    let tests = Set(SourceTree.swiftFiles(in: ["Tests"]).map(\.stem))
    #expect(Set(Self.testedElsewhere.values).subtracting(tests) == [])
    #expect(Set(Self.testedElsewhere.keys).subtracting(sources.map(\.stem)) == [])
    #expect(Self.threatSuites.subtracting(tests) == [])
    let mirrored = Self.testedElsewhere.keys.filter { tests.contains($0 + "Tests") }
    #expect(mirrored.sorted() == [])
  }

  @Test func pairsNames() {
    #expect(Self.sourceStem(of: "CursorTests") == "Cursor")
    #expect(Self.testStems(for: "Cursor") == ["CursorTests"])
    #expect(
      Self.testStems(for: "Context+Commit")
        == ["Context+CommitTests", "ContextCommitTests", "ContextTests"])
  }

  static func sourceStem(of test: String) -> String {
    test.hasSuffix("Tests") ? String(test.dropLast(5)) : test
  }

  /// The names a source's test file may have; an extension's tests may stand with its type's.
  static func testStems(for source: String) -> [String] {
    guard let plus = source.firstIndex(of: "+") else { return [source + "Tests"] }
    let joined = source.filter { $0 != "+" }
    return [source + "Tests", joined + "Tests", source[..<plus] + "Tests"]
  }

  static func hasLogic(_ file: SourceFile) -> Bool {
    let code = file.code.split(separator: "\n").filter { !$0.allSatisfy(\.isWhitespace) }
    return code.count >= leastLogic && SizeTests.functions(of: file.code).count > 2
  }
}
